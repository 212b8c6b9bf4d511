// build.mjs OUT -- neuroglancer as it is on npm, bundled into a site. Its icons are not on npm: package.json puts nothing in
// their place, and here they are empty.
import * as esbuild from "esbuild";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";

const out = process.argv[2];
const raw = {
  name: "raw",
  setup(build) {
    build.onResolve({ filter: /\?raw$/ }, async (asked) => {
      const path = asked.path.slice(0, -"?raw".length);
      if (path.startsWith("ikonate/")) return { path, namespace: "icon" };
      const found = await build.resolve(path, { kind: asked.kind, resolveDir: asked.resolveDir, importer: asked.importer });
      return { path: found.path, namespace: "raw", errors: found.errors };
    });
    build.onLoad({ filter: /.*/, namespace: "icon" }, () => ({ contents: "<svg/>", loader: "text" }));
    build.onLoad({ filter: /.*/, namespace: "raw" }, (asked) => ({ contents: readFileSync(asked.path, "utf8"), loader: "text" }));
  },
};
await esbuild.build({
  entryPoints: ["main", "chunk_worker", "async_computation"].map((name) => `node_modules/neuroglancer/lib/${name}.bundle.js`),
  bundle: true,
  format: "esm",
  outdir: `${out}/app`,
  plugins: [raw],
  loader: { ".wasm": "file" },
  logLevel: "error",
});
copyFileSync(`${out}/app/async_computation.bundle.js`, `${out}/async_computation.bundle.js`); // where it looks for it
writeFileSync(
  `${out}/app/index.html`,
  '<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="main.bundle.css">' +
    '<div id="neuroglancer-container"></div><script type="module" src="main.bundle.js"></script>',
);
