// build.mjs OUT.c -- the viewer as one file of C: each of its files compressed, as an array.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bundle } from "./bundle.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (!out) throw new Error("usage: node build.mjs OUT.c");

const made = await bundle({ entryPoints: [join(here, "src/viewer.ts")], minify: true, outdir: "/out" });
const types = { html: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", svg: "image/svg+xml" };
const files = [
  ["index.html", readFileSync(join(here, "src/index.html"))],
  ["icon.svg", readFileSync(join(here, "src/icon.svg"))],
  ...made.outputFiles.map((file) => [file.path.replace(/^.*\//, ""), file.contents]),
];

let text = '/* The files of the viewer. Written by viewer/build.mjs. */\n#include "viewer.h"\n';
let table = "";
for (const [i, [name, contents]] of files.entries()) {
  const bytes = gzipSync(contents, { level: 9 });
  const tag = createHash("sha256").update(contents).digest("hex").slice(0, 16);
  const numbers = Array.from(bytes).join(",").replace(/(.{1,90}),/g, "$1,\n");
  text += `\nstatic const unsigned char file${i}[] = {\n${numbers}};\n`;
  table += `    {"${name}", "${types[name.split(".").pop()]}", "${tag}", file${i}, sizeof(file${i})},\n`;
}
text += `\nconst struct viewer_file viewer_files[] = {\n${table}};\nconst size_t viewer_file_count = ${files.length};\n`;
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, text);
