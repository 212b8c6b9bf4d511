// The folder as a source: its workers, and that it gives what the server gives.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { ApiError, Server } from "../src/api.ts";
import type { Histogram, Listener, ParticlesRequest, SamplesRequest, Source, Step, Which } from "../src/source.ts";
import { Folder } from "../src/source_folder.ts";
import { NoAnswer, Pool, type Done, type Hand, type Order, type Site } from "../src/source_pool.ts";
import { Reader } from "../src/source_reader.ts";
// @ts-expect-error it has no types
import { serveFiles } from "./file_server.mjs";

const moment = () => new Promise((resolve) => setTimeout(resolve, 0));

// ---- workers --------------------------------------------------------------------

/** One that does what a test says, when it says so. */
class Fake implements Hand {
  onmessage: Hand["onmessage"] = null;
  onerror: Hand["onerror"] = null;
  orders: Order[] = [];
  postMessage(order: Order): void {
    this.orders.push(order);
  }
  done(done: Partial<Done> = {}): void {
    const answer = { code: 200, headers: {}, body: new ArrayBuffer(0) };
    this.onmessage!({ data: { answer, broken: false, bytes: 10, blocks: [], ...done } });
  }
}

function fakes(most: number): { pool: Pool; hands: Fake[] } {
  const hands: Fake[] = [];
  const make = () => hands[hands.push(new Fake()) - 1];
  return { pool: new Pool({} as WebAssembly.Module, make, most), hands };
}
const site = (key: string): Site => ({ key, name: "run", url: "http://localhost/", files: {} });
const settled = (promise: Promise<unknown>) => promise.then(() => "answered", (error: Error) => error.message);

test("there are as many workers as are needed, and no more than are allowed", async () => {
  const { pool, hands } = fakes(2);
  const asked = ["a", "b", "c", "d"].map((target) => pool.ask(site("1"), target));
  assert.deepEqual(hands.map((hand) => hand.orders.map((order) => order.target)), [["a"], ["b"]]);
  assert.equal(pool.load, 4);
  hands[1].done();
  hands[1].done();
  hands[0].done();
  hands[1].done();
  await Promise.all(asked);
  assert.deepEqual(hands.map((hand) => hand.orders.map((order) => order.target)), [["a"], ["b", "c", "d"]]);
  assert.equal(pool.bytes, 40);
  assert.equal(pool.load, 0);
});

test("who has the dataset is not given it again", async () => {
  const { pool, hands } = fakes(1);
  void pool.ask(site("1"), "a");
  void pool.ask(site("1"), "b");
  const trapped = settled(pool.ask(site("2"), "c"));
  const last = pool.ask(site("2"), "d");
  for (let i = 0; i < 4; i++) hands[0].done({ broken: i === 2, ...(i === 2 && { answer: undefined, error: { message: "trap", retry: false } }) });
  await last;
  assert.equal(await trapped, "trap");
  assert.deepEqual(hands[0].orders.map((order) => order.site?.key), ["1", undefined, "2", "2"]);
});

test("what is not wanted any more is dropped", async () => {
  const { pool, hands } = fakes(1);
  const stop = new AbortController();
  const begun = new AbortController();
  const first = pool.ask(site("1"), "a", begun.signal).catch((error: Error) => error.name);
  const dropped = [pool.ask(site("1"), "b", stop.signal), pool.ask(site("1"), "c", stop.signal)].map((promise) => promise.catch((error: Error) => error.name));
  const last = pool.ask(site("1"), "d");
  stop.abort();
  begun.abort();
  assert.deepEqual(await Promise.all([first, ...dropped]), ["AbortError", "AbortError", "AbortError"]);
  assert.equal(pool.load, 2);
  hands[0].done();
  hands[0].done();
  await last;
  assert.deepEqual(hands[0].orders.map((order) => order.target), ["a", "d"]);
});

test("what one has fetched, the others are given", async () => {
  const { pool, hands } = fakes(2);
  const block = (key: string, bytes = 1): [string, Uint8Array] => [key, new Uint8Array(bytes)];
  const blocksOf = (order: Order) => order.blocks.map(([key]) => key);
  void pool.ask(site("1"), "a");
  hands[0].done({ blocks: [block("x"), block("y")] });
  void pool.ask(site("1"), "b");
  void pool.ask(site("1"), "c");
  assert.deepEqual(blocksOf(hands[0].orders[1]), []);
  assert.deepEqual(blocksOf(hands[1].orders[0]), ["x", "y"]);
  hands[1].done({ blocks: [block("z"), block("large", 1 << 25)] }); // that is too much
  hands[0].done();
  void pool.ask(site("1"), "d");
  assert.deepEqual(blocksOf(hands[0].orders[2]), ["z"]);
  hands[0].done();
  void pool.ask(site("2"), "e"); // nothing of another dataset
  assert.deepEqual(blocksOf(hands[0].orders[3]), []);
});

test("failures are told, and a worker that is lost is replaced", async () => {
  const { pool, hands } = fakes(1);
  const asked = [pool.ask(site("1"), "a"), pool.ask(site("1"), "b"), pool.ask(site("1"), "c")];
  const results = asked.map(settled);
  hands[0].done({ answer: undefined, error: { message: "no such file", retry: false } });
  hands[0].onerror!({ message: "out of memory" });
  hands[1].done();
  assert.deepEqual(await Promise.all(results), ["no such file", "out of memory", "answered"]);
  assert.equal(hands[1].orders[0].site?.key, "1");
  await asked[0].catch((error: NoAnswer) => assert.equal(error.retry, false));
});

// ---- against the server -----------------------------------------------------------

const build = process.env.BOUMA_BUILD ?? "";
const golden = process.env.BOUMA_GOLDEN ?? "";
const bouma = join(build, "bin/bouma");
const wasm = join(build, "wasm/bouma.wasm");

/** A worker in this thread. */
class Here implements Hand {
  onmessage: Hand["onmessage"] = null;
  onerror: Hand["onerror"] = null;
  private readonly reader = new Reader();
  postMessage(order: Order): void {
    const copy = structuredClone({ ...order, module: undefined });
    void moment().then(() => this.onmessage!({ data: this.reader.work({ ...copy, module: order.module }) }));
  }
}

/** What is used of XMLHttpRequest, over the files that a server of 'folder' sends. */
function requestsOf(folder: string) {
  return class {
    status = 0;
    response: ArrayBuffer | null = null;
    private path = "";
    private range: number[] = [];
    private size = 0;
    open(_method: string, url: string): void {
      this.path = join(folder, decodeURIComponent(new URL(url).pathname));
    }
    setRequestHeader(_name: string, value: string): void {
      this.range = value.match(/\d+/g)!.map(Number);
    }
    getResponseHeader(): string {
      return `bytes */${this.size}`;
    }
    send(): void {
      const bytes = readFileSync(this.path);
      this.size = bytes.length;
      this.status = 206;
      this.response = Uint8Array.from(bytes.subarray(this.range[0], this.range[1] + 1)).buffer;
    }
  };
}

/** What came, or the message of what failed. */
const tried = <T>(promise: Promise<T>) => promise.catch((error: ApiError) => `${error.code}: ${error.message}`);

/** A histogram without what depends on who has read what before. */
async function counts(source: Source, which: Which, variable: string, where: string): Promise<Histogram | null> {
  const got = await source.histogram(which, variable, 0, 16, where);
  return got && { edges: got.edges, estimate: got.estimate };
}

/** All that the viewer asks, of all that is in a step. */
async function everything(source: Source, run: string): Promise<unknown[]> {
  const about = await source.run(run);
  const told: unknown[] = [[about.name, about.steps, about.times]];
  const last = await source.step(run, "last");
  for (const number of about.steps) {
    const step: Step = await source.step(run, number);
    assert.ok(number !== last.step || step.tag === last.tag);
    told.push(step);
    for (const object of step.objects) {
      const which = { run, step: step.step, tag: step.tag, object: object.name };
      for (const variable of object.variables) told.push(await tried(counts(source, which, variable.name, "")));
      if (object.kind === "grid") {
        for (const { name } of object.variables)
          for (let level = 0; level < object.levels; level++) {
            const box = object.shape.map((n) => [Math.floor(n / 4), n] as [number, number]);
            const request: SamplesRequest = { ...which, variable: name, component: 0, level, box, low: -1, high: 2 };
            const at = object.shape.map((n) => n >> 1);
            told.push(await tried(source.samples(request)), await tried(source.value(which, name, 0, at)), await tried(source.series(run, object.name, name, 0, at, 1)));
          }
      } else {
        const [position, ...others] = object.variables;
        const where = others.filter((v) => v.components === 1 && v.ranges[0].low !== null).slice(0, 1).map((v) => `${v.name} >= ${v.ranges[0].low}`).join("");
        const box = object.low.map((low, i) => [low, (low + object.high[i]) / 2] as [number, number]);
        const request: ParticlesRequest = { ...which, from: 0, quality: 0.5, variables: object.variables.map((v) => v.name), origin: object.low, box: null, where: "" };
        told.push(await tried(source.particles(request)), await tried(source.particles({ ...request, from: 0.5, quality: 1, box })), await tried(source.particles({ ...request, where })));
        told.push(await tried(counts(source, which, position.name, where)));
      }
    }
  }
  return told;
}

const there = existsSync(wasm) && existsSync(bouma) && execFileSync(bouma, ["help", "serve"], { encoding: "utf8" }).includes("--static");
test("the folder gives what the server gives", { skip: !there && "the build has no reader for browsers" }, async () => {
  const work = mkdtempSync(join(tmpdir(), "viewer-source-"));
  // Codecs, layouts, and particles; tests/wasm compares all answers of all datasets.
  const runs = ["cube", "dust", "extended", "flock", "hz_rows", "hz_wavelet", "interp_cube", "line_zstd", "plane"].map((name) => `${name}.bouma`);
  const child = spawn(bouma, ["serve", golden, "--port", "0"], { stdio: ["ignore", "pipe", "ignore"] });
  const listing = {
    listing: 1,
    datasets: runs.map((name) => {
      const path = join(golden, name);
      const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
        .map((entry) => [join(entry.parentPath, entry.name).slice(path.length + 1), readFileSync(join(entry.parentPath, entry.name)).length] as const);
      return { name: name.slice(0, -6), url: `${name}/`, files: Object.fromEntries(files), steps: [], times: [] };
    }),
  };
  const pages = await serveFiles(golden);
  const lists = await serveFiles(work);
  const before = globalThis.XMLHttpRequest;
  try {
    globalThis.XMLHttpRequest = requestsOf(golden) as unknown as typeof XMLHttpRequest;
    for (const entry of listing.datasets) entry.url = pages.base + entry.url;
    const told: boolean[] = [];
    writeFileSync(join(work, "listing.json"), JSON.stringify(listing));
    const first = await new Promise<string>((resolve) => createInterface({ input: child.stdout }).once("line", resolve));
    const server = new Server(first.trim(), () => undefined);
    const module = new WebAssembly.Module(readFileSync(wasm));
    const folder = new Folder(`${lists.base}listing.json`, (isThere) => told.push(isThere), { module: () => Promise.resolve(module), hand: () => new Here(), most: 2 });
    for (const run of await folder.runs()) assert.ok((await server.runs()).includes(run));
    let refused = 0;
    let given = 0;
    for (const run of await folder.runs()) {
      const ours = await everything(folder, run);
      assert.deepEqual(ours, await everything(server, run), run);
      refused += ours.filter((each) => typeof each === "string").length;
      given += ours.length;
    }
    assert.ok(given > 100 && refused * 10 < given, `${refused} of ${given} are refused`);
    assert.ok(folder.bytes() > 0);
    assert.deepEqual(told, []);
    await assert.rejects(folder.run("nobody"), (error: Error) => error instanceof ApiError && /no dataset 'nobody'/.test(error.message));
    await assert.rejects(folder.step("cube", 99), (error: Error) => error instanceof ApiError && error.code === 404);
    const stop = new AbortController();
    const step = await folder.step("cube", "last");
    const grid = step.objects[0];
    stop.abort();
    await assert.rejects(folder.samples({ run: "cube", step: step.step, tag: step.tag, object: grid.name, variable: grid.variables[0].name, component: 0, level: 0, box: [[0, 1], [0, 1], [0, 1]], low: 0, high: 1 }, stop.signal), { name: "AbortError" });

    // The listing tells of new steps, when it is another.
    const heard: number[][] = [];
    const listener: Listener = { steps: (steps) => heard.push(steps), step: () => undefined, removed: () => undefined };
    assert.equal(await folder.look("cube", listener), false);
    listing.datasets.find(({ name }) => name === "cube")!.steps = [3, 4] as never[];
    writeFileSync(join(work, "listing.json"), JSON.stringify(listing));
    assert.equal(await folder.look("cube", listener), true);
    assert.deepEqual(heard, [[3, 4]]);
    await folder.run("cube");

    // What is wrong with a server is told at once.
    writeFileSync(join(work, "listing.json"), JSON.stringify({ listing: 7 }));
    const fresh = () => new Folder(`${lists.base}listing.json`, () => undefined, { module: () => Promise.resolve(module), hand: () => new Here(), most: 1 });
    await assert.rejects(fresh().runs(), /no listing that this page can read/);
    rmSync(join(work, "listing.json"));
    await assert.rejects(fresh().runs(), /answers 404.*--static/);
    writeFileSync(join(work, "listing.json"), JSON.stringify(listing));
    pages.how.ranges = false;
    await assert.rejects(fresh().run("cube"), /does not know Range requests/);
  } finally {
    globalThis.XMLHttpRequest = before;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGINT");
    await ended;
    await Promise.all([pages.stop(), lists.stop()]);
    rmSync(work, { recursive: true });
  }
});
