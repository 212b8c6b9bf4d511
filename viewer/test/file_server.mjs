// file_server.mjs -- a web server that sends files and parts of them, and knows nothing else. It
// counts, and can be told to do things wrong.
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const types = { html: "text/html", js: "text/javascript", css: "text/css", svg: "image/svg+xml", json: "application/json", wasm: "application/wasm" };

/** Serve a folder. 'how.ranges' false: whole files are sent. 'how.missing': names that are not there.
 * 'how.origin': pages of that origin may read. */
export async function serveFiles(folder, how = {}) {
  const counts = { requests: 0, ranges: 0, bytes: 0 }; // of data
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const name = decodeURIComponent(pathname === "/" ? "/index.html" : pathname);
    const path = join(folder, name);
    const about = statSync(path, { throwIfNoEntry: false });
    const headers = { "Content-Type": types[name.split(".").at(-1)] ?? "application/octet-stream", ...(how.origin && { "Access-Control-Allow-Origin": how.origin }) };
    if (!about?.isFile() || how.missing?.test(name)) return response.writeHead(404, headers).end();
    const range = how.ranges === false ? null : /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    const first = range ? Number(range[1]) : 0;
    const last = range ? Math.min(Number(range[2]), about.size - 1) : about.size - 1;
    if (range && first > last) return response.writeHead(416, headers).end();
    if (name.startsWith("/data/")) {
      counts.requests++;
      counts.ranges += range ? 1 : 0;
      counts.bytes += last + 1 - first;
    }
    response.writeHead(range ? 206 : 200, { ...headers, "Content-Length": last + 1 - first, ...(range && { "Content-Range": `bytes ${first}-${last}/${about.size}` }) });
    return about.size ? createReadStream(path, { start: first, end: last }).pipe(response) : response.end();
  });
  await new Promise((resolve) => server.listen(how.port ?? 0, "127.0.0.1", resolve));
  const { port } = server.address();
  const stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { base: `http://127.0.0.1:${port}/`, port, counts, how, stop };
}
