// plan.ts -- which bricks of a grid to show, at which levels, and in which order to fetch them.
//
// A brick has 'size' samples of its level along each axis. Brick (x, y, z) of level k covers the
// eight bricks (2x..2x+1, ...) of level k - 1. All vectors here are x, y, z. Everything is pure.

export type Vector = [number, number, number];

/** From 'low' on and before 'high', in samples of level 0. */
export interface Box {
  low: Vector;
  high: Vector;
}
export interface Pyramid {
  shape: Vector; // samples at level 0
  levels: number;
  size: Vector; // of a brick
}
export interface Brick {
  level: number;
  x: number;
  y: number;
  z: number;
}
export interface Camera {
  scale: Vector; // the world is sample * scale + offset
  offset: Vector;
  eye: Vector;
  matrix: ArrayLike<number>; // world to clip space, column after column
  pixels: number; // of a length of 1: at distance 1; anywhere if 'flat'
  flat: boolean;
}
export interface Wish {
  camera: Camera;
  most: number; // bricks
  finest: number; // level
  low: Vector; // of the box that is shown, in samples
  high: Vector;
  hides: ((b: Brick) => boolean) | null; // nothing in it can be seen; null: nobody knows
}

export function keyOf(b: Brick): string {
  return `${b.level}/${b.x},${b.y},${b.z}`;
}

/** Bricks along each axis. */
export function bricksOf(p: Pyramid, level: number): Vector {
  return p.shape.map((n, i) => Math.ceil(Math.ceil(n / 2 ** level) / p.size[i])) as Vector;
}

/** As wide as high and deep; but flat where the grid is, and then wider. */
export function brickSize(shape: Vector): Vector {
  const edge = Math.max(...shape) <= 256 ? 32 : 64;
  const whole = shape.map((n) => 2 ** Math.ceil(Math.log2(n)));
  const size = whole.map((n) => Math.min(n, edge)) as Vector;
  const grows = (i: number) => size[i] < whole[i] && size[i] < 1024;
  while (size[0] * size[1] * size[2] < 32 ** 3 && [0, 1, 2].some(grows))
    for (let i = 0; i < 3; i++) if (grows(i)) size[i] *= 2;
  return size;
}

/** Bytes of a brick in memory, where it has one sample more along each axis. */
export function slotBytes(p: Pyramid, channels: number): number {
  return p.size.reduce((n, s) => n * (s + 1), channels);
}

/** All bricks of all levels. */
export function countBricks(p: Pyramid): number {
  let all = 0;
  for (let level = 0; level < p.levels; level++) all += bricksOf(p, level).reduce((a, b) => a * b);
  return all;
}

/** In samples of level 0. */
export function extentOf(p: Pyramid, b: Brick): Box {
  const s = p.size.map((n) => n * 2 ** b.level);
  const low: Vector = [b.x * s[0], b.y * s[1], b.z * s[2]];
  return { low, high: low.map((v, i) => Math.min(v + s[i], p.shape[i])) as Vector };
}

/** What to ask for: the brick and one sample more, to interpolate up to the next brick. */
export function boxOf(p: Pyramid, b: Brick): Box {
  const { low } = extentOf(p, b);
  return { low, high: low.map((v, i) => Math.min(v + p.size[i] * 2 ** b.level + 1, p.shape[i])) as Vector };
}

/** Whether a box is in front of all sides of the view. */
function isSeen(matrix: ArrayLike<number>, low: Vector, high: Vector): boolean {
  for (let side = 0; side < 6; side++) {
    const row = side >> 1;
    const sign = side & 1 ? -1 : 1;
    const plane = [0, 1, 2, 3].map((c) => matrix[c * 4 + 3] + sign * matrix[c * 4 + row]);
    let best = plane[3];
    for (let i = 0; i < 3; i++) best += Math.max(plane[i] * low[i], plane[i] * high[i]);
    if (best < 0) return false;
  }
  return true;
}

interface Node extends Brick {
  pixels: number; // of a sample
  distance: number;
  shown: boolean;
}

function judge(p: Pyramid, wish: Wish, b: Brick): Node {
  const { low, high } = extentOf(p, b);
  const { camera } = wish;
  const world = (v: Vector) => v.map((x, i) => x * camera.scale[i] + camera.offset[i]) as Vector;
  const a = world(low);
  const c = world(high);
  const near = a.map((v, i) => Math.max(Math.min(v, c[i]) - camera.eye[i], 0, camera.eye[i] - Math.max(v, c[i])));
  const distance = Math.hypot(...near);
  const sample = Math.max(...camera.scale.map(Math.abs)) * 2 ** b.level;
  const pixels = (camera.pixels * sample) / (camera.flat ? 1 : Math.max(distance, 1e-6));
  let shown = [0, 1, 2].every((i) => low[i] < wish.high[i] && high[i] > wish.low[i]);
  if (shown && wish.hides) shown = !wish.hides(b);
  if (shown) shown = isSeen(camera.matrix, a.map((v, i) => Math.min(v, c[i])) as Vector, a.map((v, i) => Math.max(v, c[i])) as Vector);
  return { ...b, pixels, distance, shown };
}

/** The largest samples on the screen first; of equals, the nearest. */
function before(a: Node, b: Node): boolean {
  return a.pixels !== b.pixels ? a.pixels > b.pixels : a.distance < b.distance;
}

class Heap {
  private readonly items: Node[] = [];

  push(node: Node): void {
    const items = this.items;
    let i = items.push(node) - 1;
    while (i > 0 && before(node, items[(i - 1) >> 1])) {
      items[i] = items[(i - 1) >> 1];
      i = (i - 1) >> 1;
    }
    items[i] = node;
  }

  pop(): Node | undefined {
    const items = this.items;
    const top = items[0];
    const last = items.pop();
    if (items.length === 0 || last === undefined) return top;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && before(items[child + 1], items[child])) child++;
      if (!before(items[child], last)) break;
      items[i] = items[child];
      i = child;
    }
    items[i] = last;
    return top;
  }
}

export function children(p: Pyramid, b: Brick): Brick[] {
  const [nx, ny, nz] = bricksOf(p, b.level - 1);
  const out: Brick[] = [];
  for (let z = 2 * b.z; z < Math.min(2 * b.z + 2, nz); z++)
    for (let y = 2 * b.y; y < Math.min(2 * b.y + 2, ny); y++)
      for (let x = 2 * b.x; x < Math.min(2 * b.x + 2, nx); x++) out.push({ level: b.level - 1, x, y, z });
  return out;
}

export function roots(p: Pyramid): Brick[] {
  const level = p.levels - 1;
  const [nx, ny, nz] = bricksOf(p, level);
  const out: Brick[] = [];
  for (let z = 0; z < nz; z++)
    for (let y = 0; y < ny; y++) for (let x = 0; x < nx; x++) out.push({ level, x, y, z });
  return out;
}

/** The coarsest level of all, so that there is something everywhere; then finer bricks where a
 *  sample is larger than a pixel, until there are 'most'. In the order in which to fetch them:
 *  coarse ones first, then those that are near. */
export function planBricks(p: Pyramid, wish: Wish): Brick[] {
  const heap = new Heap();
  const top = roots(p).map((b) => judge(p, wish, b));
  top.sort((a, b) => Number(b.shown) - Number(a.shown) || a.distance - b.distance);
  const chosen: Node[] = top.slice(0, wish.most);
  for (const node of chosen) if (node.shown) heap.push(node);
  for (let node = heap.pop(); node; node = heap.pop()) {
    if (node.level <= wish.finest || node.pixels <= 1) continue;
    const next = children(p, node).map((b) => judge(p, wish, b)).filter((b) => b.shown);
    if (chosen.length + next.length > wish.most) continue;
    for (const child of next) {
      chosen.push(child);
      heap.push(child);
    }
  }
  chosen.sort((a, b) => b.level - a.level || a.distance - b.distance);
  return chosen.map(({ level, x, y, z }) => ({ level, x, y, z }));
}

/** What the page table has a cell for: the bricks of a level, from 'first' on. */
export interface Table {
  level: number;
  first: Vector;
  count: Vector;
}

const mostCells = 2 ** 20;
const longestTable = 512; // cells; every WebGL 2 has 3D textures of 256, all in use have 2048

/** All bricks of level 0. Where these are too many: those of the box that is shown, at the finest
 *  level at which there are few enough. Nothing else can be drawn. */
export function tableOf(p: Pyramid, low: Vector, high: Vector): Table {
  const fits = (count: Vector) => count[0] * count[1] * count[2] <= mostCells && Math.max(...count) <= longestTable;
  if (fits(bricksOf(p, 0))) return { level: 0, first: [0, 0, 0], count: bricksOf(p, 0) };
  for (let level = 0; ; level++) {
    const all = bricksOf(p, level);
    const cell = p.size.map((n) => n * 2 ** level);
    const first = low.map((v, i) => Math.min(Math.max(Math.floor((v - 0.5) / cell[i]), 0), all[i] - 1)) as Vector;
    const last = high.map((v, i) => Math.min(Math.max(Math.floor((v - 0.5) / cell[i]), first[i]), all[i] - 1));
    const count = first.map((f, i) => last[i] - f + 1) as Vector;
    // At the coarsest level, what is in the middle must do.
    while (level === p.levels - 1 && !fits(count)) {
      const axis = count.indexOf(Math.max(...count));
      first[axis] += Math.floor(count[axis] / 4);
      count[axis] = Math.ceil(count[axis] / 2);
    }
    if (fits(count)) return { level, first, count };
  }
}

/** Nothing of this cell can be seen: rays pass it in one step. */
export const hiddenCell = 128;

/** For each cell, x fastest: the finest brick in memory that covers it, as four bytes: the place in
 *  the atlas, and its level + 1; 0 if there is none. */
export function pageTable(p: Pyramid, table: Table, resident: Iterable<[Brick, Vector]>, hides: Wish["hides"]): Uint8Array {
  const [nx, ny, nz] = table.count;
  const out = new Uint8Array(nx * ny * nz * 4);
  const fill = (b: Brick, slot: Vector, last: number) => {
    const s = 2 ** (b.level - table.level);
    const from = (at: number, i: number) => Math.max(at * s - table.first[i], 0);
    const to = (at: number, i: number) => Math.min((at + 1) * s - table.first[i], table.count[i]);
    for (let z = from(b.z, 2); z < to(b.z, 2); z++)
      for (let y = from(b.y, 1); y < to(b.y, 1); y++)
        for (let x = from(b.x, 0); x < to(b.x, 0); x++) {
          const i = 4 * ((z * ny + y) * nx + x);
          out[i] = slot[0];
          out[i + 1] = slot[1];
          out[i + 2] = slot[2];
          out[i + 3] = last;
        }
  };
  const sorted = [...resident].filter(([b]) => b.level >= table.level).sort((a, b) => b[0].level - a[0].level);
  const keys = new Set(sorted.map(([b]) => keyOf(b)));
  for (const [b, slot] of sorted) {
    fill(b, slot, b.level + 1 + (hides?.(b) ? hiddenCell : 0));
    if (!hides || b.level <= table.level) continue;
    // Where it is refined, its parts that are not fetched have nothing to show.
    const parts = children(p, b);
    if (parts.some((c) => keys.has(keyOf(c)))) for (const c of parts) if (hides(c)) fill(c, slot, b.level + 1 + hiddenCell);
  }
  return out;
}
