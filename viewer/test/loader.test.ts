// The loader with a source that answers, refuses, is late or never answers, in any order.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Loader, type Atlas, type Shown } from "../src/loader.ts";
import { brickSize, countBricks, type Pyramid, type Vector, type Wish } from "../src/plan.ts";
import { BrickRanges, seesOpacity, seesSurface } from "../src/ranges.ts";
import type { PatchRanges, Samples, SamplesRequest, Source } from "../src/source.ts";
import { generator } from "./random.ts";

interface Job {
  request: SamplesRequest;
  signal: AbortSignal | undefined;
  resolve(samples: Samples): void;
  reject(error: unknown): void;
}

/** A source whose answers the test gives. A sample is the sum of its indices. */
class Fake {
  jobs: Job[] = [];
  asked = 0;
  bytes = 0;
  ranges: (() => Promise<PatchRanges | null>) | undefined;
  obeys = true; // a signal

  source(): Source {
    const samples = (request: SamplesRequest, signal?: AbortSignal) => new Promise<Samples>((resolve, reject) => {
      this.asked++;
      const job = { request, signal, resolve, reject };
      this.jobs.push(job);
      if (this.obeys) signal?.addEventListener("abort", () => {
        this.jobs = this.jobs.filter((j) => j !== job);
        reject(signal.reason);
      });
    });
    return { samples, ranges: this.ranges } as unknown as Source;
  }

  answer(job: Job): void {
    this.jobs = this.jobs.filter((j) => j !== job);
    const step = 2 ** job.request.level;
    const axes = job.request.box.map(([low, high]) => Array.from({ length: Math.ceil(high / step) - Math.ceil(low / step) }, (_, i) => (Math.ceil(low / step) + i) * step));
    const shape = axes.map((a) => a.length);
    const data = new Uint8Array(shape.reduce((a, b) => a * b));
    let at = 0;
    for (const z of axes[0]) for (const y of axes[1]) for (const x of axes[2]) data[at++] = 1 + ((x + y + z) % 255);
    this.bytes += data.length;
    job.resolve({ shape, data, error: 0 });
  }

  refuse(job: Job): void {
    this.jobs = this.jobs.filter((j) => j !== job);
    job.reject(new Error("no"));
  }
}

class FakeAtlas implements Atlas {
  readonly slots: (Uint8Array | null)[];
  pages: Uint8Array = new Uint8Array();
  constructor(readonly pyramid: Pyramid, readonly count: number) {
    this.slots = Array<Uint8Array | null>(count).fill(null);
  }
  put(slot: number, data: Uint8Array): void {
    assert.ok(slot >= 0 && slot < this.count);
    assert.equal(data.length, this.pyramid.size.reduce((n, s) => n * (s + 1), 1));
    this.slots[slot] = data;
  }
  place(slot: number): Vector {
    return [slot, 0, 0];
  }
  setPages(pages: Uint8Array): void {
    this.pages = pages;
  }
}

const shape: Vector = [32, 32, 32];
const pyramid: Pyramid = { shape, levels: 3, size: [8, 8, 8] };

function wish(pixels: number): Omit<Wish, "most" | "hides"> {
  const s = 1 / 32;
  const matrix = [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, -0.1, 0, 0, 0, 0, 1];
  return { camera: { scale: [s, s, s], offset: [-0.5, -0.5, -0.5], eye: [0, 0, 3], matrix, pixels, flat: true }, finest: 0, low: [0, 0, 0], high: shape };
}

function shown(step: number, change: Partial<Shown> = {}): Shown {
  return { run: "r", step, tag: `t${step}`, object: "g", channels: [{ variable: "v", parts: [{ component: 0, low: 0, high: 1 }], low: 0, high: 1 }], dims: 3, slice: null, patch: [8, 8, 8], patches: 64, error: 0, ...change };
}

/** Promises have been heard. */
const quiet = () => new Promise((resolve) => setImmediate(resolve));

function make(fake: Fake, slots: number, of = pyramid) {
  const atlas = new FakeAtlas(of, slots);
  const told = { changes: 0, errors: [] as unknown[] };
  const loader = new Loader(fake.source(), atlas, () => told.changes++, (error) => told.errors.push(error));
  return { atlas, loader, told };
}

async function answerAll(fake: Fake): Promise<void> {
  for (await quiet(); fake.jobs.length; await quiet()) fake.answer(fake.jobs[0]);
}

test("the coarsest level comes first, alone, in one request", async () => {
  const fake = new Fake();
  const roots: Pyramid = { ...pyramid, levels: 2 }; // with eight bricks
  const { loader } = make(fake, 200, roots);
  loader.show(shown(0), wish(32), null);
  assert.equal(fake.jobs.length, 1);
  assert.deepEqual(fake.jobs[0].request.box, [[0, 32], [0, 32], [0, 32]]);
  assert.equal(fake.jobs[0].request.level, 1);
  fake.answer(fake.jobs[0]);
  await quiet();
  loader.update();
  assert.ok(loader.hasPicture());
  assert.equal(fake.jobs.length, 6);
  await answerAll(fake);
  assert.ok(loader.progress().complete);
  assert.equal(loader.progress().there, countBricks(roots));
  // The bricks that were cut from one answer are those that they would be alone.
  for (const u of [[0, 0, 0], [15, 1, 1], [16, 16, 16], [31, 22, 3]] as Vector[]) assert.equal(loader.byteAt(u), 1 + ((u[0] + u[1] + u[2]) % 255));
});

test("requests that nobody waits for are cancelled, and leave their places", async () => {
  for (const obeys of [true, false]) {
    const fake = new Fake();
    fake.obeys = obeys;
    const { loader } = make(fake, 200);
    loader.show(shown(0), wish(32), null);
    fake.answer(fake.jobs[0]);
    await quiet();
    const before = [...fake.jobs];
    assert.equal(before.length, 6);
    loader.show(shown(1), wish(32), null);
    assert.ok(before.every((job) => job.signal?.aborted));
    // Those before are never answered; what is wanted now comes all the same.
    fake.jobs = fake.jobs.filter((job) => !before.includes(job));
    await answerAll(fake);
    loader.update();
    assert.ok(loader.hasPicture() && loader.progress().complete, `obeys: ${obeys}`);
  }
});

test("who drags a slider sees what came meanwhile", async () => {
  const fake = new Fake();
  const { loader } = make(fake, 200);
  const all = [0, 1, 2].map((step) => shown(step));
  for (const s of all) loader.show(s, wish(32), null);
  assert.deepEqual(fake.jobs.map((job) => job.request.step), [0, 2]); // the oldest, and the one that is wanted
  fake.answer(fake.jobs[0]);
  await quiet();
  loader.update();
  assert.equal(loader.current, all[0]);
  assert.ok(!loader.hasPicture());
  loader.show(shown(3), wish(32), null);
  await answerAll(fake);
  loader.update();
  assert.equal(loader.current!.step, 3);
  assert.ok(loader.hasPicture() && loader.progress().complete);
});

test("the first picture of 512 x 512 x 512 samples is 32 KiB", () => {
  const fake = new Fake();
  const large: Pyramid = { shape: [512, 512, 512], levels: 5, size: brickSize([512, 512, 512]) };
  const { loader } = make(fake, 200, large);
  loader.show(shown(0), { ...wish(512), high: [512, 512, 512] }, null);
  assert.equal(fake.jobs.length, 1);
  fake.answer(fake.jobs[0]);
  assert.equal(fake.bytes, 32 ** 3);
});

test("after refusals of a step before, the next one is fetched", async () => {
  const fake = new Fake();
  fake.obeys = false;
  const { loader, told } = make(fake, 200);
  loader.show(shown(0), wish(32), null);
  fake.answer(fake.jobs[0]);
  await quiet();
  const before = [...fake.jobs];
  loader.show(shown(1), wish(32), null);
  for (const job of before) fake.refuse(job);
  await answerAll(fake);
  assert.ok(loader.progress().complete);
  assert.deepEqual(told.errors, []);
});

test("what is refused is told, not asked for again, and asked for again when the view changes", async () => {
  const fake = new Fake();
  const { loader, told } = make(fake, 200);
  loader.show(shown(0), wish(32), null);
  fake.answer(fake.jobs[0]);
  for (await quiet(); fake.jobs.length; await quiet()) fake.refuse(fake.jobs[0]);
  assert.equal(fake.asked, loader.progress().wanted);
  assert.equal(told.errors.length, loader.progress().wanted - 1);
  assert.ok(loader.progress().settled && !loader.progress().complete);
  loader.show(shown(0), wish(32), null);
  await answerAll(fake);
  assert.ok(loader.progress().complete);
});

test("with more coarse bricks than slots, nothing is fetched for ever", async () => {
  const shallow: Pyramid = { ...pyramid, levels: 1 }; // 64 coarsest bricks
  for (const slots of [1, 2, 9, 33]) {
    const fake = new Fake();
    const { loader } = make(fake, slots, shallow);
    for (let step = 0; step < 3; step++) {
      loader.show(shown(step), wish(32), null);
      await answerAll(fake);
      loader.update();
      assert.ok(loader.progress().complete && loader.hasPicture(), `${slots} slots, step ${step}`);
      assert.ok(loader.cache.size <= slots);
    }
    assert.ok(fake.asked <= 3 * slots);
  }
});

test("it settles, whatever is answered, refused, late or cancelled, in any order", async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = generator(seed);
    const fake = new Fake();
    fake.obeys = random(0, 1) < 0.5;
    const patches = { shape: [4, 4, 4], pairs: new Float32Array(128).map((_, i) => (i % 2 ? 1 : 0)) };
    if (random(0, 1) < 0.7) fake.ranges = () => new Promise((resolve, reject) => setImmediate(() => (random(0, 1) < 0.3 ? reject(new Error("no ranges")) : resolve(random(0, 1) < 0.5 ? patches : null))));
    const { loader, atlas, told } = make(fake, Math.floor(random(1, 150)));
    const forgotten: Job[] = [];
    for (let i = 0; i < 60; i++) {
      const what = random(0, 1);
      if (i === 0 || what < 0.15) loader.show(shown(Math.floor(random(0, 4))), wish(random(3, 50)), random(0, 1) < 0.5 ? () => true : null);
      else if (what < 0.2) loader.restore();
      else if (what < 0.3) loader.update();
      const job = fake.jobs[Math.floor(random(0, fake.jobs.length))];
      if (!job) await quiet();
      else if (job.signal?.aborted && random(0, 1) < 0.5) {
        fake.jobs = fake.jobs.filter((j) => j !== job); // never ends
        forgotten.push(job);
      } else if (random(0, 1) < 0.2) fake.refuse(job);
      else fake.answer(job);
      if (random(0, 1) < 0.5) await quiet();
    }
    const asked = fake.asked;
    for (let idle = 0; idle < 3; idle = fake.jobs.length ? 0 : idle + 1) {
      if (fake.jobs.length) random(0, 1) < 0.1 ? fake.refuse(fake.jobs[0]) : fake.answer(fake.jobs[0]);
      await quiet();
      assert.ok(fake.asked - asked <= 2 * countBricks(pyramid), `seed ${seed}: asks for ever`);
    }
    const progress = loader.progress();
    assert.ok(progress.settled, `seed ${seed}: ${JSON.stringify(progress)}`);
    assert.ok(progress.complete || told.errors.length > 0, `seed ${seed}: ${JSON.stringify(progress)}`);
    assert.ok(progress.wanted <= atlas.count);
    loader.update();
    if (progress.complete) assert.ok(loader.hasPicture());
    loader.stop();
    for (const job of forgotten) fake.answer(job); // what comes now is for nobody
    await quiet();
  }
});

test("a lost context gets all bricks back", async () => {
  const fake = new Fake();
  const { loader, atlas } = make(fake, 200);
  loader.show(shown(0), wish(32), null);
  await answerAll(fake);
  loader.update();
  const [slots, pages] = [[...atlas.slots], atlas.pages];
  atlas.slots.fill(null);
  atlas.pages = new Uint8Array();
  loader.restore();
  loader.update();
  assert.deepEqual(atlas.slots, slots);
  assert.deepEqual(atlas.pages, pages);
});

test("slices fetch one layer, that of their level at or before them", async () => {
  const fake = new Fake();
  const flat: Pyramid = { shape: [32, 1, 32], levels: 3, size: [16, 1, 16] };
  const { loader } = make(fake, 20, flat);
  loader.show(shown(0, { slice: { axis: 1, index: 7 } }), { ...wish(32), high: [32, 1, 32] }, null);
  assert.deepEqual([fake.jobs[0].request.level, fake.jobs[0].request.box[1]], [2, [4, 5]]);
  await answerAll(fake);
  loader.update();
  assert.ok(loader.progress().complete && loader.progress().level === 0);
  assert.equal(loader.byteAt([5, 0, 9]), 1 + 5 + 7 + 9);
  assert.ok(fake.bytes <= 1.5 * 32 * 32);
});

// ---- ranges ----------------------------------------------------------------------------------

/** Patches of 8: something between 0.5 and 1 in the corner at 0, nothing but 0 elsewhere. */
const corner: PatchRanges = { shape: [4, 4, 4], pairs: new Float32Array(128).map((_, i) => (i === 0 ? 0.5 : i === 1 ? 1 : 0)) };

test("bricks that cannot be seen are neither fetched nor marched through", async () => {
  const bytes: number[] = [];
  for (const ranges of [undefined, corner]) {
    const fake = new Fake();
    if (ranges) fake.ranges = async () => ranges;
    const { loader, atlas } = make(fake, 200);
    loader.show(shown(0), wish(32), seesOpacity([[0, 0], [0.2, 0], [1, 1]], 0, 1));
    await answerAll(fake);
    loader.update();
    assert.ok(loader.progress().complete);
    bytes.push(fake.bytes);
    const hidden = atlas.pages.filter((v, i) => i % 4 === 3 && v > 127).length;
    assert.equal(hidden, ranges ? 63 : 0);
  }
  assert.equal(bytes[1], 8 ** 3 + 9 ** 3 + 9 ** 3); // the coarsest, and the corner at two levels
  assert.ok(bytes[1] * 15 < bytes[0]);
});

test("other opacities show what was hidden", async () => {
  const fake = new Fake();
  fake.ranges = async () => corner;
  const { loader } = make(fake, 200);
  loader.show(shown(0), wish(32), seesOpacity([[0, 0], [0.2, 0], [1, 1]], 0, 1));
  await answerAll(fake);
  const few = loader.progress().there;
  loader.show(shown(0), wish(32), seesOpacity([[0, 1], [1, 1]], 0, 1));
  await answerAll(fake);
  assert.ok(few === 3 && loader.progress().there === countBricks(pyramid));
});

test("values are seen where their opacity is not 0, and surfaces where they can be", () => {
  const sees = seesOpacity([[0, 0], [0.4, 0], [0.5, 1], [0.6, 0], [1, 0]], 0, 10);
  assert.ok(sees(0, 10) && sees(4.5, 4.6) && sees(4.9, 5.1) && sees(5.5, 99));
  assert.ok(!sees(0, 3.8) && !sees(6.2, 1e9) && !sees(-Infinity, 3));
  assert.ok(seesOpacity([], 0, 1)(0.1, 0.2));
  const surface = seesSurface(5, 0.1);
  assert.ok(surface(4, 6) && surface(5, 5) && surface(5.05, 9) && !surface(5.2, 9) && !surface(1, 4));
});

test("the range of a brick has the sample beyond its end, and the errors", () => {
  const p: Pyramid = { shape: [64, 32, 32], levels: 2, size: [32, 32, 32] };
  const pairs = new Float32Array([0, 1, 5, 6, NaN, NaN, NaN, NaN]); // two patches along x of 32, of two along y of 16
  const ranges = new BrickRanges(p, [32, 16, 32], { shape: [1, 2, 2], pairs }, 0.25);
  const seen = (b: { level: number; x: number }, value: number) => !ranges.hides({ ...b, y: 0, z: 0 }, (low, high) => low <= value && value <= high);
  assert.ok(seen({ level: 0, x: 0 }, 6.2) && seen({ level: 0, x: 0 }, -0.2) && !seen({ level: 0, x: 0 }, 6.3));
  assert.ok(seen({ level: 0, x: 1 }, 5) && !seen({ level: 0, x: 1 }, 4.5));
  assert.ok(seen({ level: 1, x: 0 }, 0) && seen({ level: 1, x: 0 }, 6));
  const nothing = new BrickRanges(p, [32, 16, 32], { shape: [1, 2, 2], pairs: new Float32Array(8).fill(NaN) }, 0);
  assert.ok(nothing.hides({ level: 1, x: 0, y: 0, z: 0 }, () => true));
});
