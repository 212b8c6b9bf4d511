import assert from "node:assert/strict";
import { test } from "node:test";
import { boxOf, brickSize, bricksOf, extentOf, keyOf, pageTable, planBricks, roots, type Pyramid, type Vector, type Wish } from "../src/plan.ts";

const pyramid: Pyramid = { shape: [256, 256, 256], levels: 4, size: 32 };

/** Looks along -z, without perspective, at all of the unit cube. */
function wish(pixels: number, change: Partial<Wish> = {}): Wish {
  const s = 1 / 256;
  const matrix = [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, -0.1, 0, 0, 0, 0, 1];
  return {
    camera: { scale: [s, s, s], offset: [-0.5, -0.5, -0.5], eye: [0, 0, 3], matrix, pixels, flat: true },
    most: 10000, finest: 0, low: [0, 0, 0], high: [256, 256, 256], planes: null, ...change,
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

test("only bricks in the view, the box and the planes are refined", () => {
  const w = wish(256);
  const half = [...(w.camera.matrix as number[])];
  half[12] = -1; // the left half is out of sight
  assert.ok(planBricks(pyramid, { ...w, camera: { ...w.camera, matrix: half } }).filter((b) => b.level === 0).every((b) => b.x >= 3));
  const inBox = planBricks(pyramid, wish(256, { low: [0, 0, 0], high: [32, 32, 256] }));
  assert.deepEqual(levelsOf(inBox), [1, 2, 4, 8]);
  const onPlane = planBricks(pyramid, wish(256, { planes: [{ axis: 2, at: 100 }] }));
  assert.deepEqual(levelsOf(onPlane), [1, 4, 16, 64]);
  assert.ok(onPlane.filter((b) => b.level === 0).every((b) => b.z === 3));
});

test("no brick is wanted twice, and each one's parent is there", () => {
  const plan = planBricks(pyramid, wish(256, { most: 200 }));
  const keys = new Set(plan.map(keyOf));
  assert.equal(keys.size, plan.length);
  for (const b of plan) if (b.level < 3) assert.ok(keys.has(keyOf({ level: b.level + 1, x: b.x >> 1, y: b.y >> 1, z: b.z >> 1 })));
});

test("boxes have one sample more than bricks, up to the end of the grid", () => {
  const odd: Pyramid = { shape: [100, 70, 1], levels: 3, size: 32 };
  assert.deepEqual(bricksOf(odd, 0), [4, 3, 1]);
  assert.deepEqual(bricksOf(odd, 2), [1, 1, 1]);
  assert.deepEqual(boxOf(odd, { level: 0, x: 0, y: 2, z: 0 }), { low: [0, 64, 0], high: [33, 70, 1] });
  assert.deepEqual(boxOf(odd, { level: 1, x: 1, y: 0, z: 0 }), { low: [64, 0, 0], high: [100, 65, 1] });
  assert.equal(roots(odd).length, 1);
});

test("a table of bricks stays small for large grids", () => {
  assert.equal(brickSize([128, 128, 128]), 32);
  assert.equal(brickSize([512, 512, 512]), 64);
  const size = brickSize([40000, 40000, 40000]);
  assert.ok((40000 / size) ** 3 <= 2 ** 21);
});

test("the finest brick in memory is in the page table", () => {
  const small: Pyramid = { shape: [128, 64, 64], levels: 3, size: 32 };
  const table = pageTable(small, [
    [{ level: 0, x: 3, y: 0, z: 1 }, [5, 6, 7] as Vector],
    [{ level: 2, x: 0, y: 0, z: 0 }, [1, 2, 3] as Vector],
  ]);
  const at = (x: number, y: number, z: number) => [...table.subarray(4 * ((z * 2 + y) * 4 + x)).subarray(0, 4)];
  assert.deepEqual(at(3, 0, 1), [5, 6, 7, 1]);
  assert.deepEqual(at(3, 1, 1), [1, 2, 3, 3]);
  assert.deepEqual([...pageTable(small, [])], Array(4 * 16).fill(0));
});
