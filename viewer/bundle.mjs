// bundle.mjs -- how sources are bundled, for the program and for tests.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));

// The module "colour-maps" is the table of 'bouma render', so that both show the same colours.
function readColourMaps() {
  const text = readFileSync(join(here, "../tools/bouma/colours.c"), "utf8");
  const table = text.slice(text.indexOf("maps[] = {"), text.indexOf("enum { MAPS"));
  const maps = {};
  for (const [, name, count, points] of table.matchAll(/\{"(\w+)",\s*(\d+),\s*\{((?:\s*\{[^}]*\},?)+)\}\}/g)) {
    maps[name] = [...points.matchAll(/\{(\d+), (\d+), (\d+)\}/g)].map((m) => m.slice(1).map(Number));
    if (maps[name].length !== Number(count)) throw new Error(`colours.c: ${name} is not understood`);
  }
  if (Object.keys(maps).length === 0) throw new Error("colours.c: no colour maps are found");
  return maps;
}

const colourMaps = {
  name: "colour-maps",
  setup(build) {
    build.onResolve({ filter: /^colour-maps$/ }, () => ({ path: "colour-maps", namespace: "table" }));
    build.onLoad({ filter: /.*/, namespace: "table" }, () => ({ contents: JSON.stringify(readColourMaps()), loader: "json" }));
  },
};

export function bundle(options) {
  return esbuild.build({
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    legalComments: "eof",
    logLevel: "warning",
    ...options,
    plugins: [colourMaps, ...(options.plugins ?? [])],
  });
}
