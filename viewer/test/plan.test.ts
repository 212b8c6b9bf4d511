import assert from "node:assert/strict";
import { test } from "node:test";
import { boxOf, brickSize, bricksOf, children, extentOf, hiddenCell, keyOf, pageTable, planBricks, roots, slotBytes, tableOf, type Brick, type Pyramid, type Vector, type Wish } from "../src/plan.ts";
import { atlasShape } from "../src/volume.ts";
import { randomly } from "./random.ts";

const pyramid: Pyramid = { shape: [256, 256, 256], levels: 4, size: [32, 32, 32] };

/** Looks along -z, without perspective, at all of the unit cube. */
function wish(pixels: number, change: Partial<Wish> = {}): Wish {
  const s = 1 / 256;
  const matrix = [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, -0.1, 0, 0, 0, 0, 1];
  return {
    camera: { scale: [s, s, s], offset: [-0.5, -0.5, -0.5], eye: [0, 0, 3], matrix, pixels, flat: true },
    most: 10000, finest: 0, low: [0, 0, 0], high: [256, 256, 256], hides: null, ...change,
  };
}
const levelsOf = (bricks: { level: number }[]) => [3, 2, 1, 0].map((k) => bricks.filter((b) => b.level === k).length);

test("a level with samples as large as pixels is fine enough", () => {
  assert.deepEqual(levelsOf(planBricks(pyramid, wish(256))), [1, 8, 64, 512]);
  assert.deepEqual(levelsOf(planBricks(pyramid, wish(64))), [1, 8, 0, 0]);
  assert.deepEqual(levelsOf(planBricks(pyramid, wish(10))), [1, 0, 0, 0]);
});

test("no more bricks than there is room for, and always the coarsest", () => {
  const plan = planBricks(pyramid, wish(256, { most: 40 }));
  assert.ok(plan.length <= 40 && plan.length > 30);
  assert.equal(plan[0].level, 3);
});

test("coarse bricks come first, then those that are near", () => {
  const plan = planBricks(pyramid, wish(256));
  for (let i = 1; i < plan.length; i++) {
    assert.ok(plan[i].level <= plan[i - 1].level);
    if (plan[i].level === plan[i - 1].level && plan[i].level === 0) assert.ok(distance(plan[i]) >= distance(plan[i - 1]) - 1e-9);
  }
  function distance(b: { x: number; y: number; z: number; level: number }): number {
    const { low, high } = extentOf(pyramid, b);
    return Math.hypot(...[0, 0, 3].map((e, i) => Math.max(low[i] / 256 - 0.5 - e, 0, e - (high[i] / 256 - 0.5))));
  }
});

test("near bricks are finer in perspective", () => {
  const w = wish(256);
  w.camera = { ...w.camera, flat: false, eye: [0, 0, 1], pixels: 150 };
  const finest = planBricks(pyramid, w).filter((b) => b.level === 0);
  assert.ok(finest.length > 0 && finest.length < 512);
  assert.ok(finest.some((b) => b.z === 7));
  assert.ok(finest.every((b) => b.z > 0));
});

test("only bricks in the view and the box, with something to see, are refined", () => {
  const w = wish(256);
  const half = [...(w.camera.matrix as number[])];
  half[12] = -1; // the left half is out of sight
  assert.ok(planBricks(pyramid, { ...w, camera: { ...w.camera, matrix: half } }).filter((b) => b.level === 0).every((b) => b.x >= 3));
  const inBox = planBricks(pyramid, wish(256, { low: [0, 0, 0], high: [32, 32, 256] }));
  assert.deepEqual(levelsOf(inBox), [1, 2, 4, 8]);
  const layer = (b: Brick) => 100 < b.z * 32 * 2 ** b.level || 100 >= (b.z + 1) * 32 * 2 ** b.level;
  const inLayer = planBricks(pyramid, wish(256, { hides: layer }));
  assert.deepEqual(levelsOf(inLayer), [1, 4, 16, 64]);
  assert.ok(inLayer.filter((b) => b.level === 0).every((b) => b.z === 3));
  assert.deepEqual(levelsOf(planBricks(pyramid, wish(256, { hides: () => true }))), [1, 0, 0, 0]);
});

test("no brick is wanted twice, and each one's parent is there", () => {
  const plan = planBricks(pyramid, wish(256, { most: 200 }));
  const keys = new Set(plan.map(keyOf));
  assert.equal(keys.size, plan.length);
  for (const b of plan) if (b.level < 3) assert.ok(keys.has(keyOf({ level: b.level + 1, x: b.x >> 1, y: b.y >> 1, z: b.z >> 1 })));
});

test("boxes have one sample more than bricks, up to the end of the grid", () => {
  const odd: Pyramid = { shape: [100, 70, 1], levels: 3, size: [32, 32, 32] };
  assert.deepEqual(bricksOf(odd, 0), [4, 3, 1]);
  assert.deepEqual(bricksOf(odd, 2), [1, 1, 1]);
  assert.deepEqual(boxOf(odd, { level: 0, x: 0, y: 2, z: 0 }), { low: [0, 64, 0], high: [33, 70, 1] });
  assert.deepEqual(boxOf(odd, { level: 1, x: 1, y: 0, z: 0 }), { low: [64, 0, 0], high: [100, 65, 1] });
  assert.equal(roots(odd).length, 1);
});

test("bricks are flat where the grid is, and wider then", () => {
  assert.deepEqual(brickSize([128, 128, 128]), [32, 32, 32]);
  assert.deepEqual(brickSize([512, 512, 512]), [64, 64, 64]);
  assert.deepEqual(brickSize([900, 700, 1]), [256, 256, 1]);
  assert.deepEqual(brickSize([300, 1, 500]), [256, 1, 256]);
  assert.deepEqual(brickSize([1, 1, 1]), [1, 1, 1]);
  assert.deepEqual(brickSize([5, 3, 2]), [8, 4, 2]);
});

test("the finest brick in memory is in the page table", () => {
  const small: Pyramid = { shape: [128, 64, 64], levels: 3, size: [32, 32, 32] };
  const all = tableOf(small, [0, 0, 0], small.shape);
  assert.deepEqual(all, { level: 0, first: [0, 0, 0], count: [4, 2, 2] });
  const resident: [Brick, Vector][] = [[{ level: 0, x: 3, y: 0, z: 1 }, [5, 6, 7]], [{ level: 1, x: 1, y: 0, z: 0 }, [8, 8, 8]], [{ level: 2, x: 0, y: 0, z: 0 }, [1, 2, 3]]];
  const table = pageTable(small, all, resident, null);
  const at = (of: Uint8Array, x: number, y: number, z: number) => [...of.subarray(4 * ((z * 2 + y) * 4 + x)).subarray(0, 4)];
  assert.deepEqual(at(table, 3, 0, 1), [5, 6, 7, 1]);
  assert.deepEqual(at(table, 3, 1, 1), [8, 8, 8, 2]);
  assert.deepEqual(at(table, 1, 1, 1), [1, 2, 3, 3]);
  assert.deepEqual([...pageTable(small, all, [], null)], Array(4 * 16).fill(0));
  // Only the far end can be seen: what is not refined beside it is passed.
  const hiding = pageTable(small, all, resident, (b) => b.level < 2 && (b.x + 1) * 2 ** b.level < 4);
  assert.deepEqual(at(hiding, 3, 0, 1), [5, 6, 7, 1]);
  assert.deepEqual(at(hiding, 2, 0, 1), [8, 8, 8, 2 + hiddenCell]);
  assert.deepEqual(at(hiding, 0, 0, 1), [1, 2, 3, 3 + hiddenCell]);
  // Before anything is refined, the coarse brick is all there is, and is drawn as it is.
  assert.deepEqual(at(pageTable(small, all, [resident[2]], (b) => b.level < 2), 0, 0, 1), [1, 2, 3, 3]);
});

test("tables are small however large the grid is, and are of the box where they must be", () => {
  const huge: Pyramid = { shape: [40000, 40000, 40000], levels: 7, size: brickSize([40000, 40000, 40000]) };
  const all = tableOf(huge, [0, 0, 0], huge.shape);
  assert.ok(all.level > 0 && all.count.reduce((a, b) => a * b) <= 2 ** 20);
  const part = tableOf(huge, [20000, 20000, 20000], [21000, 21000, 21000]);
  assert.equal(part.level, 0);
  assert.deepEqual(part.first, [312, 312, 312]);
  const cell = Math.floor(20999.4 / 64) - 312;
  const table = pageTable(huge, part, [[{ level: 6, x: 4, y: 4, z: 4 }, [1, 1, 1]], [{ level: 0, x: 312 + cell, y: 312, z: 312 }, [2, 2, 2]]], null);
  assert.deepEqual([...table.subarray(4 * cell, 4 * cell + 4)], [2, 2, 2, 1]);
  const shallow: Pyramid = { ...huge, levels: 1 };
  assert.ok(tableOf(shallow, [0, 0, 0], huge.shape).count.reduce((a, b) => a * b) <= 2 ** 20);
});

// ---- properties, over grids and views of all kinds ----------------------------------------

const shapes: Vector[] = [[2048, 2048, 2048], [16384, 16384, 16384], [1, 1, 1], [5, 3, 2], [512, 512, 1], [1000000, 300000, 1], [300, 1, 70], [4096, 4096, 3], [129, 33, 65], [100000, 1, 1]];

/** A view from somewhere around or inside of the unit cube. */
function randomWish(p: Pyramid, random: (low: number, high: number) => number): Wish {
  const length = Math.max(...p.shape);
  const signs = [0, 1, 2].map(() => (random(0, 1) < 0.2 ? -1 : 1));
  const scale = signs.map((s) => s / length) as Vector;
  const offset = p.shape.map((n, i) => (-signs[i] * n) / length / 2) as Vector;
  const eye: Vector = [random(-1, 1), random(-1, 1), random(0, 1.5)];
  const f = random(1, 4); // looks along -z
  const matrix = [f, 0, 0, 0, 0, f, 0, 0, 0, 0, -1.0004, -1, -f * eye[0], -f * eye[1], eye[2] * 1.0004 - 0.02, eye[2]];
  const low = p.shape.map((n) => Math.floor(random(0, 0.3) * n)) as Vector;
  const high = p.shape.map((n) => Math.ceil(random(0.7, 1) * n)) as Vector;
  const hidden = random(0, 1) < 0.5 ? null : (b: Brick) => extentOf(p, b).low[0] > p.shape[0] / 2;
  return { camera: { scale, offset, eye, matrix, pixels: random(100, 3000), flat: random(0, 1) < 0.3 }, most: Math.floor(random(1, 800)), finest: 0, low, high, hides: hidden };
}

test("no plan exceeds its budget, repeats a brick, lacks a parent, or is finer than a pixel", () => {
  randomly(80, (random) => {
    const shape = shapes[Math.floor(random(0, shapes.length))];
    const p: Pyramid = { shape, levels: 1 + Math.floor(random(0, 9)), size: brickSize(shape) };
    if (bricksOf(p, p.levels - 1).reduce((a, b) => a * b) > 5000) return;
    const w = randomWish(p, random);
    const plan = planBricks(p, w);
    assert.ok(plan.length <= w.most && plan.length >= Math.min(1, w.most));
    const keys = new Set(plan.map(keyOf));
    assert.equal(keys.size, plan.length);
    for (const b of plan) {
      if (b.level === p.levels - 1) continue;
      const parent = { level: b.level + 1, x: b.x >> 1, y: b.y >> 1, z: b.z >> 1 };
      assert.ok(keys.has(keyOf(parent)));
      assert.ok(!w.hides?.(b));
      // The parent was too coarse: somewhere a sample of it is larger than a pixel.
      assert.ok(pixelsOf(p, w, parent) > 1);
      const { low, high } = extentOf(p, b);
      assert.ok(low.every((v, i) => v < w.high[i] && high[i] > w.low[i]));
    }
  });
});

function pixelsOf(p: Pyramid, { camera }: Wish, b: Brick): number {
  const { low, high } = extentOf(p, b);
  const ends = [low, high].map((v) => v.map((x, i) => x * camera.scale[i] + camera.offset[i]));
  const far = Math.hypot(...camera.eye.map((e, i) => Math.max(Math.min(ends[0][i], ends[1][i]) - e, 0, e - Math.max(ends[0][i], ends[1][i]))));
  return (camera.pixels * Math.max(...camera.scale.map(Math.abs)) * 2 ** b.level) / (camera.flat ? 1 : Math.max(far, 1e-6));
}

test("of 2048 x 2048 x 2048 samples, those before the eye are as fine as they are needed, in 128 MiB", () => {
  const p: Pyramid = { shape: [2048, 2048, 2048], levels: 6, size: [64, 64, 64] };
  const budget = 128 << 20;
  const most = atlasShape(1e9, Math.floor(budget / slotBytes(p, 1)), p.size, 2048).reduce((a, b) => a * b);
  randomly(5, (random) => {
    const w = { ...randomWish(p, random), most, hides: null, low: [0, 0, 0] as Vector, high: p.shape };
    w.camera = { ...w.camera, flat: false, pixels: random(500, 1200) };
    const plan = planBricks(p, w);
    assert.ok(plan.length * slotBytes(p, 1) <= budget);
    const keys = new Set(plan.map(keyOf));
    const left = plan.filter((b) => b.level > 0 && !children(p, b).some((c) => keys.has(keyOf(c))) && pixelsOf(p, w, b) > 1);
    // What is too coarse in sight is coarser on the screen by less than four times what was refined last.
    const refined = plan.filter((b) => b.level < 5).map((b) => pixelsOf(p, w, { ...b, level: b.level + 1, x: b.x >> 1, y: b.y >> 1, z: b.z >> 1 }));
    const more = new Set(planBricks(p, { ...w, most: 4 * most }).map(keyOf));
    const seen = left.filter((b) => children(p, b).some((c) => more.has(keyOf(c))));
    if (seen.length) assert.ok(plan.length > most - 8);
    for (const b of seen) assert.ok(pixelsOf(p, w, b) <= 4 * Math.max(Math.min(...refined), 1), `${keyOf(b)}: ${pixelsOf(p, w, b)}`);
  });
});

test("what is fetched is at most 1.5 times what is seen at the resolution of the screen", () => {
  for (const [shape, pixels] of [[[512, 512, 512], 512], [[512, 512, 512], 300], [[4096, 4096, 1], 1200], [[256, 256, 256], 256]] as [Vector, number][]) {
    const p: Pyramid = { shape, levels: 6, size: brickSize(shape) };
    const length = Math.max(...shape);
    const scale = shape.map(() => 1 / length) as Vector;
    const matrix = [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, -0.1, 0, 0, 0, 0, 1];
    const offset = shape.map((n) => -n / length / 2) as Vector;
    const plan = planBricks(p, { camera: { scale, offset, eye: [0, 0, 3], matrix, pixels, flat: true }, most: 1e6, finest: 0, low: [0, 0, 0], high: shape, hides: null });
    const level = Math.max(Math.floor(Math.log2(length / pixels)), 0); // the coarsest with samples no larger than pixels
    const seen = shape.reduce((n, extent) => n * Math.ceil(extent / 2 ** level), 1);
    let fetched = 0;
    for (const b of plan) {
      const { low, high } = boxOf(p, b);
      fetched += low.reduce((n, l, i) => n * (Math.ceil(high[i] / 2 ** b.level) - l / 2 ** b.level), 1);
    }
    assert.equal(Math.min(...plan.map((b) => b.level)), level);
    assert.ok(fetched >= seen && fetched <= 1.5 * seen, `${shape}: ${fetched / seen}`);
  }
});

test("an atlas has no more slots than its budget, and almost as many", () => {
  randomly(200, (random) => {
    const size = [0, 1, 2].map(() => 2 ** Math.floor(random(0, 7))) as Vector;
    const most = Math.floor(random(1, 2000));
    const needed = Math.floor(random(1, 4000));
    const slots = atlasShape(needed, most, size, 2048);
    const count = slots.reduce((a, b) => a * b);
    assert.ok(count <= most && slots.every((s, i) => s >= 1 && s <= 255 && s * (size[i] + 1) <= 2048));
    assert.ok(count >= 0.9 * Math.min(needed, most) || count >= 10000, `${slots}: ${needed} of ${most}`);
  });
});
