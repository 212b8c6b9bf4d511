// build_itowns.mjs OUT -- iTowns as it is on npm, with a page that opens point tiles, bundled into a site.
import * as esbuild from "esbuild";
import { copyFileSync, writeFileSync } from "node:fs";

const out = process.argv[2];
const common = { bundle: true, format: "esm", logLevel: "error", external: ["fs", "path", "crypto", "tiny-worker"] };
await esbuild.build({ ...common, entryPoints: ["itowns_page.mjs"], outfile: `${out}/app/page.js` });
// Where it looks for its worker, seen from the page's script, and what that loads.
await esbuild.build({ ...common, entryPoints: ["node_modules/itowns/lib/Worker/LASLoaderWorker.js"], outfile: `${out}/Worker/LASLoaderWorker.js` });
copyFileSync("node_modules/laz-perf/lib/worker/laz-perf.wasm", `${out}/laz-perf.wasm`);
writeFileSync(`${out}/app/index.html`, '<!doctype html><meta charset="utf-8"><script type="module" src="page.js"></script>');
