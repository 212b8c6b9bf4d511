// serve_requests.mjs BASE OUT -- what the viewer asks of the server at BASE for the first dataset
// there: a line for each request, in their order, and what was fetched and is seen.
//
//   first NEEDS TARGET     before the first picture; starts when NEEDS requests are answered
//   refined NEEDS TARGET   the same for those that come later, until the view is complete
//   fetched BYTES          of data, without compression
//   visible BYTES          of what is on the screen: see below
//   sharp BYTES            of that, what was fetched as fine as the screen
//
// The viewer is that of viewer/src, with a screen of 1024 x 768 pixels; only what draws is left
// out, so no browser is needed. The page's own files come first. Events are not asked for: their
// answer never ends.
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundle } from "../viewer/bundle.mjs";

const [base, out] = process.argv.slice(2);
const viewer = join(dirname(fileURLToPath(import.meta.url)), "../viewer");
const [width, height] = [1024, 768];

// ---- the viewer without a screen ---------------------------------------------------

/** What it does not have is a method that does nothing. */
const quiet = (own = {}) => new Proxy(own, { get: (has, name) => has[name] ?? (() => undefined) });

const context = quiet({ getParameter: () => 2048 }); // the longest texture
const canvas = quiet({ clientWidth: width, clientHeight: height, style: {}, ownerDocument: quiet(), getRootNode: () => canvas, getContext: () => context });
globalThis.makeRenderer = () => quiet({
  capabilities: { maxTextureSize: 16384 }, state: quiet(), properties: { get: () => ({}) }, getContext: () => context,
  getDrawingBufferSize: (to) => to.set(width, height), getClearColor: (to) => to,
});
globalThis.window = Object.assign(globalThis, { devicePixelRatio: 1, innerWidth: width, innerHeight: height, addEventListener() {}, dispatchEvent() {}, matchMedia: () => quiet() });
globalThis.document = quiet({ createElement: () => quiet() });
globalThis.navigator ??= {};
globalThis.requestAnimationFrame = (draw) => setTimeout(draw, 0);
globalThis.cancelAnimationFrame = clearTimeout;
globalThis.EventSource = class {
  addEventListener() {}
  close() {}
};

const withoutDrawing = {
  name: "without-drawing",
  setup(build) {
    const real = join(viewer, "node_modules/three/build/three.module.js");
    build.onResolve({ filter: /^three$/ }, () => ({ path: "three", namespace: "screenless" }));
    build.onLoad({ filter: /.*/, namespace: "screenless" }, () => ({
      contents: `export * from ${JSON.stringify(real)}; export function WebGLRenderer() { return makeRenderer(); }`, resolveDir: viewer,
    }));
  },
};

async function load() {
  const parts = 'export { Server } from "./api.ts"; export { App } from "./app.ts"; export { scalars } from "./look.ts"; export { fresh } from "./state.ts";';
  const made = await bundle({ stdin: { contents: parts, resolveDir: join(viewer, "src"), loader: "ts" }, outdir: "/out", platform: "node", plugins: [withoutDrawing] });
  const script = made.outputFiles.find((file) => file.path.endsWith(".js"));
  const folder = mkdtempSync(join(tmpdir(), "serve-requests-"));
  try {
    writeFileSync(join(folder, "viewer.mjs"), script.contents);
    return await import(pathToFileURL(join(folder, "viewer.mjs")).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// ---- what it asks -------------------------------------------------------------------

let app = null;
let ended = 0;
let fetched = 0;
const boxes = []; // of samples: level, and from where to where, z, y, x
const plainFetch = globalThis.fetch;

globalThis.fetch = async (url) => {
  const { pathname, search } = new URL(url);
  const asked = /\/samples\?box=([^&]*)&level=(\d+)/.exec(pathname + search);
  if (asked) boxes.push({ level: Number(asked[2]), box: decodeURIComponent(asked[1]).split(",").map((side) => side.split(":").map(Number)) });
  const isRefined = app && app.state().firstBytes !== null;
  appendFileSync(out, `${isRefined ? "refined" : "first"} ${ended} ${pathname}${search}\n`);
  const answer = await plainFetch(url, { headers: { "Accept-Encoding": "identity" } });
  const body = await answer.arrayBuffer();
  ended++;
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  fetched += body.byteLength;
  return new Response(body, { status: answer.status, headers: answer.headers });
};

async function fetchPage() {
  const page = await (await fetch(base)).text();
  const files = [...page.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, name]) => new URL(name, base).href);
  await Promise.all([...new Set(files)].map((url) => fetch(url)));
}

/** As the panel does when it is built: a histogram of each variable that particles can be chosen by. */
function askHistograms(source, scalars) {
  const set = app.set();
  if (!set || askHistograms.done) return;
  askHistograms.done = true;
  for (const variable of scalars(set)) void source.histogram(app.which(set.name), variable.name, 0, 48, "");
}

// ---- what is seen ---------------------------------------------------------------------

/** For each cell of 8 x 8 x 8 samples, x fastest: the finest level that was fetched. */
function finestLevels(shape, levels) {
  const [nx, ny, nz] = shape.map((n) => Math.ceil(n / 8));
  const finest = new Uint8Array(nx * ny * nz).fill(levels);
  for (const { level, box } of boxes) {
    const [[z0, z1], [y0, y1], [x0, x1]] = box.map(([low, high]) => [Math.floor(low / 8), Math.floor(high / 8)]);
    for (let z = z0; z < z1; z++)
      for (let y = y0; y < y1; y++)
        for (let x = x0; x < x1; x++) {
          const i = (z * ny + y) * nx + x;
          finest[i] = Math.min(finest[i], level);
        }
  }
  return finest;
}

/** Bytes of the samples in view, one each, at the coarsest level whose samples are no larger than a
 *  pixel where they are; and of these, those that were fetched as fine. For a grid of three axes
 *  that is looked at alone. */
function bytesInView(shape, levels) {
  const { camera } = app.scene;
  const m = app.scene.matrix().elements;
  const longest = Math.max(...shape);
  const pixels = height / (2 * Math.tan((camera.fov * Math.PI) / 360)) / longest;
  const eye = camera.position.toArray();
  const radius = (4 * Math.sqrt(3)) / longest;
  const finest = finestLevels(shape, levels);
  const bytes = { visible: 0, sharp: 0 };
  let cell = 0;
  for (let z = 4; z < shape[2] + 4; z += 8)
    for (let y = 4; y < shape[1] + 4; y += 8)
      for (let x = 4; x < shape[0] + 4; x += 8, cell++) {
        const p = [x, y, z].map((v, i) => (v - shape[i] / 2) / longest);
        const [cx, cy, cw] = [0, 1, 3].map((row) => m[row] * p[0] + m[4 + row] * p[1] + m[8 + row] * p[2] + m[12 + row]);
        const margin = 4 * radius; // more than the projection makes of it
        if (cw < -margin || Math.abs(cx) > cw + margin || Math.abs(cy) > cw + margin) continue;
        const distance = Math.max(Math.hypot(...p.map((v, i) => v - eye[i])) - radius, 1e-6);
        const level = Math.min(Math.max(Math.floor(Math.log2(distance / pixels)), 0), levels - 1);
        bytes.visible += 512 / 8 ** level;
        if (finest[cell] <= level) bytes.sharp += 512 / 8 ** level;
      }
  return bytes;
}

/** Of particles, those that are shown. */
function bytesOfPoints() {
  const bytes = app.state().points * 4 * (app.set().dims + (app.view.colour ? 1 : 0));
  return { visible: bytes, sharp: bytes };
}

// ---- all --------------------------------------------------------------------------------

writeFileSync(out, "");
const { App, Server, scalars, fresh } = await load();
await fetchPage();
fetched = 0;
const source = new Server(base, () => undefined);
const failures = [];
app = new App(source, canvas, quiet({ changed: () => askHistograms(source, scalars), failed: (message) => failures.push(message) }));
app.scene.resize();
void app.open(fresh());
// Complete, and for a while: more is asked for when the view rests.
for (let calm = 0; calm < 50 && failures.length === 0; calm = app.phase() === "complete" ? calm + 1 : 0) await new Promise((resolve) => setTimeout(resolve, 20));
if (failures.length) throw new Error(failures[0]);
const look = app.gridLook();
const { visible, sharp } = look ? bytesInView(look.shape, look.grid.levels) : bytesOfPoints();
appendFileSync(out, `fetched ${fetched}\nvisible ${Math.round(visible)}\nsharp ${Math.round(sharp)}\n`);
process.exit(0);
