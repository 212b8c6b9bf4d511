// build.mjs OUT.c [BOUMA.WASM] -- the viewer as one file of C: each of its files compressed, as an
// array. With the reader for browsers, what a folder without a server needs is there, too.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bundle } from "./bundle.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const [out, wasm] = process.argv.slice(2);
if (!out) throw new Error("usage: node build.mjs OUT.c [BOUMA.WASM]");

const entryPoints = { viewer: join(here, "src/viewer.ts"), ...(wasm && { worker: join(here, "src/source_worker.ts") }) };
const made = await bundle({ entryPoints, minify: true, outdir: "/out" });
const page = readFileSync(join(here, "src/index.html"), "utf8");

// The page of a folder names the listing, and tells who opens it as a file what it needs.
function pageOfFolder() {
  const marks = ["</head>", "</body>"];
  if (!marks.every((mark) => page.split(mark).length === 2)) throw new Error("index.html is not understood");
  const help = `This page must come from a web server, as browsers read no files beside a page. For example: npx http-server`;
  return page.replace("</head>", '  <link rel="bouma-listing" href="listing.json" />\n  </head>').replace("</body>", `  <script>
      if (location.protocol === "file:") {
        const message = document.getElementById("message");
        message.hidden = false;
        message.textContent = "${help}";
      }
    </script>
  </body>`);
}
const types = { html: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", svg: "image/svg+xml", wasm: "application/wasm" };
const files = [
  ["index.html", page],
  ["icon.svg", readFileSync(join(here, "src/icon.svg"))],
  ...made.outputFiles.map((file) => [file.path.replace(/^.*\//, ""), file.contents]),
  ...(wasm ? [["static.html", pageOfFolder()], ["bouma.wasm", readFileSync(wasm)]] : []),
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
if (!existsSync(out) || readFileSync(out, "utf8") !== text) writeFileSync(out, text);
