import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { ApiError, boxText, patience, query, Server, splitColumns } from "../src/api.ts";
import { BrickCache } from "../src/bricks.ts";
import { bake, colourAt, invertedMap, mapNames, opacityAt } from "../src/colours.ts";
import { bytes, number, numberIn } from "../src/format.ts";
import { filterLimits, finiteRange, frameOf, gridOf, isInfinite, magnitude, modeOf, pointScale, recorded, samplesIn, slicesOf, toSamples, widened, withDefaults } from "../src/look.ts";
import { keyed, moveStop, nearestStop } from "../src/opacity.ts";
import { farther, shifted, turned } from "../src/orbit.ts";
import { clip, lineOf, march, meetPlane } from "../src/pick.ts";
import { plotLevel, plotPlaces, plotValues } from "../src/plot.ts";
import { countValues, planQualities } from "../src/points.ts";
import type { Step } from "../src/source.ts";
import { fresh, fromHash, toHash, whereText } from "../src/state.ts";
import { byteOf, cut, fillSlot, interleave, magnitude as lengths, valueOf } from "../src/samples.ts";
import { indexOf, moved, stepAt, withoutStep, withStep } from "../src/timeline.ts";
import { Recent } from "../src/recent.ts";
import { Undo } from "../src/undo.ts";
import { atlasShape } from "../src/volume.ts";

// ---- bricks -----------------------------------------------------------------

test("the brick that was not wanted for longest goes first", () => {
  const cache = new BrickCache<string>(3);
  const none = () => false;
  for (const key of ["a", "b", "c"]) cache.add(key, key, none);
  cache.touch("a");
  const slot = cache.get("b")!.slot;
  assert.equal(cache.add("d", "d", none), slot);
  assert.ok(!cache.has("b") && cache.has("a") && cache.size === 3);
  assert.equal(cache.add("e", "e", (key) => key === "c"), cache.get("e")!.slot);
  assert.ok(cache.has("c") && !cache.has("a"));
});

test("bricks that are wanted stay", () => {
  const cache = new BrickCache<number>(2);
  cache.add("a", 1, () => true);
  cache.add("b", 2, () => true);
  assert.equal(cache.add("c", 3, () => true), null);
  assert.equal(cache.size, 2);
  assert.equal(cache.add("a", 4, () => true), cache.get("a")!.slot);
  assert.equal(cache.get("a")!.value, 4);
});

test("slots of the atlas are enough, and a slot is filled to its end", () => {
  for (const n of [1, 7, 150, 900]) {
    const shape = atlasShape(n, 100000, [32, 32, 32], 2048);
    assert.ok(shape[0] * shape[1] * shape[2] >= n && Math.max(...shape) * 33 <= 2048);
  }
  const slot = fillSlot(new Uint8Array([1, 2, 3, 4, 5, 6]), [3, 2, 1], [3, 3, 3], 1);
  assert.equal(slot.length, 64);
  assert.deepEqual([...slot.subarray(0, 16)], [1, 2, 3, 3, 4, 5, 6, 6, 4, 5, 6, 6, 4, 5, 6, 6]);
  assert.deepEqual([...slot.subarray(48, 64)], [...slot.subarray(0, 16)]);
  assert.deepEqual([...fillSlot(new Uint8Array([1, 2, 3, 4]), [2, 1, 1], [2, 1, 1], 2)], [1, 2, 3, 4, 3, 4, 1, 2, 3, 4, 3, 4, 1, 2, 3, 4, 3, 4, 1, 2, 3, 4, 3, 4]);
});

test("an answer is cut into bricks", () => {
  // A row of samples 0, 2, 4, 6, 8 of level 1, two channels each.
  const data = new Uint8Array([0, 100, 2, 102, 4, 104, 6, 106, 8, 108]);
  const part = cut(data, [5, 1, 1], 2, 1, [0, 0, 0], { low: [4, 0, 0], high: [9, 1, 1] });
  assert.deepEqual([part.shape, [...part.data]], [[3, 1, 1], [4, 104, 6, 106, 8, 108]]);
  assert.equal(cut(data, [5, 1, 1], 2, 1, [0, 0, 0], { low: [0, 0, 0], high: [10, 1, 1] }).data, data);
});

test("the length of vectors is that of their components, to a shade or so", () => {
  const parts = [{ low: -3, high: 3 }, { low: 0, high: 4 }];
  const of = (x: number, y: number) => lengths([new Uint8Array([byteOf(x, -3, 3)]), new Uint8Array([byteOf(y, 0, 4)])], { parts, low: 0, high: 5 })[0];
  for (const [x, y] of [[0, 0], [-3, 4], [1, 2], [2.5, 0.1]]) assert.ok(Math.abs(valueOf(of(x, y), 0, 5) - Math.hypot(x, y)) <= (2 * 5) / 254, `${x}, ${y}`);
  assert.equal(of(NaN, 1), 0);
  assert.deepEqual([...interleave([new Uint8Array([1, 2]), new Uint8Array([3, 4])])], [1, 3, 2, 4]);
});

// ---- colours ------------------------------------------------------------------

test("colours are those of bouma render", () => {
  assert.deepEqual(mapNames, ["viridis", "magma", "grey", "coolwarm"]);
  assert.deepEqual(colourAt("viridis", 0), [68, 1, 84]);
  assert.deepEqual(colourAt("viridis", 2), [253, 231, 37]);
  assert.deepEqual(colourAt("grey", 0.5), [128, 128, 128]);
  assert.deepEqual(colourAt("coolwarm", 0.5), [221, 221, 221]);
  assert.deepEqual(colourAt("viridis_r", 0), colourAt("viridis", 1));
  assert.deepEqual(mapNames.map(invertedMap).map(invertedMap), mapNames);
  assert.deepEqual([...bake("grey", [[0, 0], [1, 1]]).subarray(255 * 4)], [255, 255, 255, 255]);
});

test("opacities are lines between points", () => {
  const stops: [number, number][] = [[0.2, 0], [0.6, 1]];
  assert.equal(opacityAt(stops, 0), 0);
  assert.ok(Math.abs(opacityAt(stops, 0.4) - 0.5) < 1e-12);
  assert.equal(opacityAt(stops, 1), 1);
  assert.equal(nearestStop(stops, 0.21, 0.05, 0.1), 0);
  assert.equal(nearestStop(stops, 0.4, 0.5, 0.1), -1);
  assert.deepEqual(moveStop(stops, 0, 0.9, -1), [[0.6, 0], [0.6, 1]]);
});

test("points of opacities are moved, added and removed by keys", () => {
  const stops: [number, number][] = [[0, 0], [0.5, 0.2], [1, 1]];
  assert.deepEqual(keyed(stops, 1, "ArrowRight"), [[[0, 0], [0.51, 0.2], [1, 1]], 1]);
  assert.deepEqual(keyed(stops, 0, "ArrowDown"), [stops, 0]);
  assert.deepEqual(keyed(stops, 2, "Enter"), [stops, 0]);
  assert.deepEqual(keyed(stops, 0, "+"), [[[0, 0], [0.25, 0.1], [0.5, 0.2], [1, 1]], 1]);
  assert.deepEqual(keyed(stops, 1, "Delete"), [[[0, 0], [1, 1]], 0]);
  assert.equal(keyed(stops.slice(1), 0, "Delete"), null);
  assert.equal(keyed(stops, 0, "x"), null);
});

test("a camera turns around what it looks at, and does not fall over", () => {
  const near = (a: readonly number[], b: readonly number[]) => a.forEach((v, i) => assert.ok(Math.abs(v - b[i]) < 1e-9, `${a}: ${b}`));
  near(turned([2, 0, 0, 0, 0, 0], Math.PI / 2, 0), [0, -2, 0, 0, 0, 0]);
  near(turned([3, 0, 0, 1, 0, 0], 0, Math.PI / 6), [1 + 2 * Math.cos(Math.PI / 6), 0, 1, 1, 0, 0]);
  assert.ok(turned([1, 0, 0, 0, 0, 0], 0, 9)[0] > 0);
  near(farther([3, 0, 0, 1, 0, 0], 2), [5, 0, 0, 1, 0, 0]);
  near(shifted([3, 0, 0, 1, 0, 0], [1, 2, 3]), [4, 2, 3, 2, 2, 3]);
});

test("the last choice is undone, and a drag is one choice", () => {
  const undo = new Undo();
  const view = fresh();
  const change = (by: object, now: number) => {
    undo.remember(view, by, now);
    Object.assign(view, by);
  };
  change({ box: [0, 0.5, 0, 1, 0, 1] }, 0);
  change({ box: [0, 0.6, 0, 1, 0, 1] }, 100);
  change({ filters: { T: [1, 2] } }, 200);
  change({ step: 3, camera: [1, 2, 3, 0, 0, 0] }, 300);
  change({ mode: "volume" }, 400); // as it is already
  assert.deepEqual(undo.back()!.filters, {});
  const first = undo.back()!;
  assert.equal(first.box, null);
  assert.ok(!("camera" in first) && !("step" in first));
  assert.equal(undo.back(), null);
  // All that can be chosen, but where one stands: place, time, and the page.
  const elsewhere = ["step", "follow", "level", "along", "camera", "flat", "zoom", "bare", "theme"];
  change({ map: "magma" }, 500);
  assert.deepEqual([...Object.keys(undo.back()!), ...elsewhere].sort(), Object.keys(fresh()).sort());
});

test("a map forgets what was not used for longest", () => {
  const map = new Recent<number, string>(2);
  map.set(1, "a");
  map.set(2, "b");
  assert.equal(map.get(1), "a");
  map.set(3, "c");
  assert.deepEqual([map.get(1), map.get(2), map.get(3), map.size], ["a", undefined, "c", 2]);
  map.delete(1);
  map.clear();
  assert.equal(map.size, 0);
});

// ---- views as links -----------------------------------------------------------------

test("a link gives the view back", () => {
  const view = {
    ...fresh(), run: "a b/ü&c", step: 12, grid: "flow/T=1", mode: "iso" as const, iso: 0.25, map: "magma", range: [-1.5, 2e-7] as [number, number], slices: { x: 3, z: 0 },
    particles: "coal", colour: "T", filters: { T: [1, 2] as [number, number], "a:b,c": [0.1, 0.2] as [number, number] }, box: [0, 0.5, 0.25, 1, 0, 1],
    along: "y" as const, camera: [1, 2, 3, 0, 0, 0], zoom: 2.5, nearest: true, level: 2, quality: 0.125, stops: [[0, 0.5], [1, 1]] as [number, number][],
  };
  assert.deepEqual(fromHash(toHash(view)), view);
  assert.equal(toHash(fresh()), "#");
  assert.deepEqual(fromHash(""), fresh());
});

test("a broken link gives what is usual", () => {
  for (const hash of ["#run=%E0%A4", "#step=-1", "#box=1,2", "#box=0.5,0.4,0,1,0,1", "#mode=evil&along=w", "#range=3,1", "#camera=NaN,1,2,3,4,5", "#__proto__=1", "#opacity=2:2"])
    assert.deepEqual(fromHash(hash), fresh());
  assert.equal(fromHash("#quality=7").quality, 1);
});

test("filters are conditions of the server", () => {
  assert.equal(whereText({ T: [1, 2.5], "my T": [0, 1], "v[2]": [3, 4] }), "1 <= T <= 2.5 && 0 <= 'my T' <= 1 && 3 <= v[2] <= 4");
  assert.equal(whereText({ "it's": [0, 1] }), '0 <= "it\'s" <= 1');
  assert.equal(whereText({}), "");
});

// ---- time ---------------------------------------------------------------------------

test("steps are kept in order", () => {
  const line = { steps: [0, 10, 30], times: [0, 1, 3] };
  assert.deepEqual(withStep(line, 20, 2), { steps: [0, 10, 20, 30], times: [0, 1, 2, 3] });
  assert.deepEqual(withStep(line, 40, 4).steps, [0, 10, 30, 40]);
  assert.deepEqual(withStep(line, 10, 9), { steps: [0, 10, 30], times: [0, 9, 3] });
  assert.deepEqual(withoutStep(line, 10), { steps: [0, 30], times: [0, 3] });
  assert.equal(withoutStep(line, 5), line);
  assert.equal(indexOf(line, null), 2);
  assert.equal(indexOf(line, 15), 1);
  assert.equal(moved(line, 30, 1, false), 30);
  assert.equal(moved(line, 30, 1, true), 0);
  assert.equal(moved(line, null, -1, false), 10);
  assert.equal(moved({ steps: [], times: [] }, null, 1, true), null);
  assert.equal(stepAt(line, 1.4), 10);
  assert.equal(stepAt({ steps: [], times: [] }, 1), null);
});

// ---- particles -------------------------------------------------------------------------

test("particles come in parts, each of them once", () => {
  const parts = planQualities(1_000_000, 1);
  assert.deepEqual(parts[0], [0, 0.02]);
  parts.forEach(([from], i) => assert.equal(from, i ? parts[i - 1][1] : 0));
  assert.equal(parts[parts.length - 1][1], 1);
  assert.deepEqual(planQualities(100, 0.5), [[0, 0.5]]);
  assert.deepEqual(planQualities(0, 1), [[0, 1]]);
  assert.deepEqual(planQualities(10, 0), []);
  const many = planQualities(1e9, 1);
  assert.ok(many[many.length - 1][1] * 1e9 <= 3_000_000 + 1);
  assert.deepEqual(countValues([new Float32Array([0, 1, 1.5, 4, 9])], 0, 4, 4).estimate, [1, 2, 0, 1]);
});

test("ends of a range have the digits that matter in it", () => {
  assert.deepEqual([1.559e-13, 0.64955, 1.2991].map((v) => numberIn(v, [1.559e-13, 1.2991])), ["0", "0.65", "1.299"]);
  assert.deepEqual([-3.269e-4, 3.6503e-4].map((v) => numberIn(v, [-3.269e-4, 3.6503e-4])), ["-3.269e-4", "3.65e-4"]);
  assert.deepEqual([101325.4, 101326.1].map((v) => numberIn(v, [101325.4, 101326.1])), ["101325.4", "101326.1"]);
  assert.deepEqual([0, 2.5e9].map((v) => numberIn(v, [0, 2.5e9])), ["0", "2.5e9"]);
  assert.equal(numberIn(3, [3, 3]), "3");
  assert.equal(numberIn(NaN, [0, 1]), "NaN");
});

test("few particles are drawn larger", () => {
  assert.deepEqual([0, 100, 1e9].map(pointScale), [4, 4, 1]);
  assert.ok(pointScale(5000) > 1.5 && pointScale(5000) < 2);
});

test("columns begin at multiples of 8 bytes", () => {
  const body = new ArrayBuffer(64);
  new Float32Array(body).set([1, 2, 3, 0, 7]);
  const got = splitColumns("position:f32:3,a:b:f32:1", 1, body);
  assert.deepEqual([...got.columns.get("position")!.data], [1, 2, 3]);
  assert.deepEqual([...got.columns.get("a:b")!.data], [7]);
  assert.throws(() => splitColumns("T:f64:1", 1, body));
});

// ---- under the pointer --------------------------------------------------------------------

test("a ray finds planes, maxima and surfaces", () => {
  const line = lineOf([0, 0, 3], [0, 0, -1], [0.1, 0.1, 0.1], [-0.5, -0.5, -0.5]);
  assert.deepEqual(line.direction.map((v) => v + 0), [0, 0, -1]);
  const part = clip(line, [0, 0, 0], [10, 10, 10])!;
  assert.ok(Math.abs(part[1] - part[0] - 10) < 1e-9);
  assert.equal(clip(line, [0, 0, 0], [4, 10, 10]), null);
  assert.ok(Math.abs(line.start[2] - meetPlane(line, 2, 4, [0, 0, 0], [10, 10, 10])! - 4.5) < 1e-9);
  assert.equal(meetPlane(line, 0, 4, [0, 0, 0], [10, 10, 10]), null);
  const ramp = (u: number[]) => 10 * (1 + Math.floor(u[2]));
  assert.equal(Math.floor(march(line, ...part, ramp, { kind: "max" })![2]), 9);
  assert.ok([3, 4].includes(Math.floor(march(line, ...part, ramp, { kind: "iso", byte: 45 })![2])));
  assert.equal(march(line, ...part, () => 0, { kind: "max" }), null);
  assert.equal(march(line, ...part, ramp, { kind: "volume", opacity: () => 0, dense: 1 }), null);
});

// ---- what a view means -----------------------------------------------------------------------

const variable = { name: "T", type: "f32", components: 1, unit: "K", ranges: [{ low: 1, high: 3, nans: 0 }], bound: 0, largest_error: 0, averages: false, stored_bytes: 1, level_bytes: [1] };
const step: Step = {
  step: 0, time: 0, tag: "t",
  objects: [
    { name: "g", kind: "grid", shape: [4, 6, 8], patch: [4, 4, 4], levels: 2, origin: [0, 10, 20], spacing: [1, 2, 3], unit: "m", variables: [{ ...variable, name: "gone", present: false }, variable] },
    { name: "p", kind: "particles", count: 5, dims: 3, low: [0, 0, 0], high: [1, 1, 100], variables: [{ ...variable, name: "position", components: 3 }, variable] },
  ],
};

test("axes are turned around, and samples are as wide as their spacing", () => {
  const view = { ...fresh(), grid: "g/T" };
  const look = gridOf(step, view)!;
  assert.deepEqual([look.shape, look.origin, look.spacing], [[8, 6, 4], [20, 10, 0], [3, 2, 1]]);
  assert.deepEqual(frameOf(look, null), { low: [18.5, 9, -0.5], high: [42.5, 21, 3.5] });
  assert.deepEqual(toSamples(look, [20, 10, 0]), [0.5, 0.5, 0.5]);
  assert.deepEqual(toSamples(look, [-99, 99, 1]), [0, 6, 1.5]);
  assert.deepEqual(slicesOf(look, view), { x: 4, y: 3, z: 2 });
  assert.deepEqual(slicesOf(look, { ...view, slices: { y: 99 } }), { y: 5 });
  assert.equal(gridOf(step, { ...view, grid: "g/gone" }), null);
});

test("without a word about it, the first variable that is there is shown", () => {
  assert.deepEqual(withDefaults(step, fresh()), { grid: "g/T" });
  assert.deepEqual(withDefaults({ ...step, objects: [step.objects[1]] }, fresh()), { particles: "p", colour: "T" });
  assert.deepEqual(withDefaults(step, { ...fresh(), particles: "p" }), {});
});

test("ranges are those that are recorded, and never empty", () => {
  assert.deepEqual(recorded(variable, 0), [1, 3]);
  assert.deepEqual(recorded({ ...variable, ranges: [{ low: null, high: null, nans: 3 }] }, 0), [0, 1]);
  assert.deepEqual(filterLimits(variable), [1, 3]);
  assert.deepEqual(filterLimits(variable, [2, 5]), [1, 5]); // a filter by hand, from another step
  assert.deepEqual(widened(0, 0), [-1, 1]);
  assert.deepEqual(widened(4, 4), [2, 6]);
});

test("numbers and amounts are short", () => {
  assert.deepEqual([number(0.5), number(1234567), number(1e-9), number(NaN), number(0)], ["0.5", "1.235e6", "1e-9", "NaN", "0"]);
  assert.deepEqual([bytes(12), bytes(2048), bytes(150 << 20)], ["12 B", "2.0 KiB", "150 MiB"]);
});

// ---- the server -------------------------------------------------------------------------------

async function withServer(answer: (request: IncomingMessage, response: ServerResponse) => void, run: (base: string) => Promise<void>): Promise<void> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

test("requests have the parameters of docs/http.md", async () => {
  let url = "";
  await withServer((request, response) => {
    url = request.url!;
    response.setHeader("Bouma-Shape", "1,2,2");
    response.setHeader("Bouma-Error", "0.5");
    response.end(Buffer.from([0, 1, 2, 255]));
  }, async (base) => {
    const server = new Server(base, () => {});
    const got = await server.samples({ run: "a/b", step: 3, tag: "x", object: "g", variable: "v w", component: 0, level: 1, box: [[0, 2], [0, 4], [0, 4]], low: 0, high: 1 });
    assert.equal(url, "/api/v1/a%2Fb/3/g/v%20w/samples?box=0%3A2%2C0%3A4%2C0%3A4&level=1&type=u8&low=0&high=1&component=0&tag=x");
    assert.deepEqual([got.shape, [...got.data], got.error], [[1, 2, 2], [0, 1, 2, 255], 0.5]);
    assert.equal(server.bytes(), 4);
  });
  assert.equal(query({ a: "", b: undefined, c: 0 }), "?c=0");
  assert.equal(boxText([[0, 1], [2, 3]]), "0:1,2:3");
});

test("errors of the server are told in its words", async () => {
  await withServer((_, response) => {
    response.statusCode = 404;
    response.end(JSON.stringify({ error: { message: "no such step" } }));
  }, async (base) => {
    const server = new Server(base, () => {});
    await assert.rejects(server.step("a", 1), (error: unknown) => error instanceof ApiError && error.code === 404 && error.message === "no such step");
    assert.equal(await server.histogram({ run: "a", step: 0, tag: "", object: "p" }, "T", 0, 8, ""), null);
  });
});

test("a server that is busy or gone is asked again", async () => {
  const told: boolean[] = [];
  let asked = 0;
  await withServer((request, response) => {
    asked++;
    if (asked === 1) return void request.socket.destroy();
    if (asked === 2) response.statusCode = 503;
    response.end(JSON.stringify({ datasets: [{ name: "run" }] }));
  }, async (base) => {
    assert.deepEqual(await new Server(base, (there) => told.push(there)).runs(), ["run"]);
  });
  assert.deepEqual(told, [false, true]);
  assert.equal(asked, 3);
  assert.ok(patience(0) < patience(3) && patience(50) === 4000);
});

test("a page that nobody sees has no stream", () => {
  const before = { document: globalThis.document, EventSource: globalThis.EventSource };
  const streams = new Set<object>();
  class Stream {
    constructor() {
      streams.add(this);
    }
    addEventListener(): void {}
    close(): void {
      streams.delete(this);
    }
  }
  const page = Object.assign(new EventTarget(), { hidden: false });
  Object.assign(globalThis, { document: page, EventSource: Stream });
  try {
    const stop = new Server("http://localhost/", () => {}).follow("run", { steps() {}, step() {}, removed() {} });
    const turn = (hidden: boolean) => {
      page.hidden = hidden;
      page.dispatchEvent(new Event("visibilitychange"));
      return streams.size;
    };
    assert.deepEqual([streams.size, turn(true), turn(false), turn(false)], [1, 0, 1, 1]);
    stop();
    assert.deepEqual([streams.size, turn(false)], [0, 0]);
  } finally {
    Object.assign(globalThis, before);
  }
});

test("lengths of vectors and infinite values have ranges, too", () => {
  const vector = { ...variable, components: 2, ranges: [{ low: -3, high: 1, nans: 0 }, { low: 2, high: 4, nans: 0 }] };
  assert.deepEqual(recorded(vector, magnitude), [2, 5]);
  assert.deepEqual(recorded({ ...variable, ranges: [{ low: "-9223372036854775808", high: 5, nans: 0 }] }, 0), [-(2 ** 63), 5]);
  const infinite = { ...variable, ranges: [{ low: 0, high: "inf", nans: 0 }] };
  assert.deepEqual([recorded(infinite, 0), isInfinite(infinite), isInfinite(variable)], [[0, 1], true, false]);
  assert.deepEqual(finiteRange(new Float32Array([NaN, 2, Infinity, -1, -Infinity])), [-1, 2]);
  assert.equal(finiteRange(new Float32Array([NaN])), null);
});

test("axes that go down have their samples where they are", () => {
  const down: Step = { ...step, objects: [{ ...step.objects[0], spacing: [1, -2, 3] } as Step["objects"][0]] };
  const look = gridOf(down, { ...fresh(), grid: "g/T" })!;
  assert.deepEqual(frameOf(look, null), { low: [18.5, -1, -0.5], high: [42.5, 11, 3.5] });
  assert.deepEqual(samplesIn(look, frameOf(look, null), { ...fresh(), box: [0, 1, 0, 0.5, 0, 1] }), { low: [0, 3, 0], high: [8, 6, 4] });
});

test("what is flat is an image, whatever the view says", () => {
  const flat = gridOf({ ...step, objects: [{ ...step.objects[0], shape: [4, 6], origin: [0, 0], spacing: [1, 1], patch: [4, 4] } as Step["objects"][0]] }, { ...fresh(), grid: "g/T", tint: "T" })!;
  assert.deepEqual([modeOf(flat.dims, { ...fresh(), mode: "iso" }), modeOf(3, { ...fresh(), mode: "iso" }), flat.tint], ["slices", "iso", null]);
  assert.deepEqual(slicesOf(flat, fresh()), { z: 0 });
});

test("curves have few samples, at their places", () => {
  assert.deepEqual([plotLevel(4096, 9), plotLevel(4097, 9), plotLevel(1e9, 3)], [0, 1, 2]);
  const look = gridOf({ ...step, objects: [{ ...step.objects[0], shape: [8], origin: [5], spacing: [0.5], patch: [8] } as Step["objects"][0]] }, { ...fresh(), grid: "g/T" })!;
  assert.deepEqual(plotPlaces(look, 1, 3, 2), [7, 8]);
  assert.deepEqual(plotValues([new Float32Array([3, 0]), new Float32Array([4, 1])]), [5, 1]);
});
