// plan.ts -- which bricks of a grid to show, at which levels, and in which order to fetch them.
//
// A brick has 'size' samples of its level along each axis. Brick (x, y, z) of level k covers the
// eight bricks (2x..2x+1, ...) of level k - 1. All vectors here are x, y, z.

export type Vector = [number, number, number];

export interface Pyramid {
  shape: Vector; // samples at level 0
  levels: number;
  size: number; // of a brick
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
  planes: { axis: 0 | 1 | 2; at: number }[] | null; // only what meets one of them; null: all
}

export function keyOf(b: Brick): string {
  return `${b.level}/${b.x},${b.y},${b.z}`;
}

/** Bricks along each axis. */
export function bricksOf(p: Pyramid, level: number): Vector {
  return p.shape.map((n) => Math.ceil(Math.ceil(n / 2 ** level) / p.size)) as Vector;
}

/** A size for which a table of all bricks stays small. */
export function brickSize(shape: Vector): number {
  let size = Math.max(...shape) <= 256 ? 32 : 64;
  while (shape.reduce((n, extent) => n * Math.ceil(extent / size), 1) > 2 ** 21) size *= 2;
  return size;
}

/** In samples of level 0. */
export function extentOf(p: Pyramid, b: Brick): { low: Vector; high: Vector } {
  const s = p.size * 2 ** b.level;
  const low: Vector = [b.x * s, b.y * s, b.z * s];
  return { low, high: low.map((v, i) => Math.min(v + s, p.shape[i])) as Vector };
}

/** What to ask for: the brick and one sample more, to interpolate up to the next brick. */
export function boxOf(p: Pyramid, b: Brick): { low: Vector; high: Vector } {
  const { low } = extentOf(p, b);
  const s = p.size * 2 ** b.level;
  return { low, high: low.map((v, i) => Math.min(v + s + 1, p.shape[i])) as Vector };
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
  if (shown && wish.planes) shown = wish.planes.some(({ axis, at }) => low[axis] <= at && at < high[axis]);
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

function children(p: Pyramid, b: Brick): Brick[] {
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

/** For each brick of level 0, x fastest: the finest brick in memory that covers it, as four bytes:
 *  the place in the atlas, and its level + 1; 0 if there is none. */
export function pageTable(p: Pyramid, resident: Iterable<[Brick, Vector]>): Uint8Array {
  const [nx, ny, nz] = bricksOf(p, 0);
  const table = new Uint8Array(nx * ny * nz * 4);
  const sorted = [...resident].sort((a, b) => b[0].level - a[0].level);
  for (const [b, slot] of sorted) {
    const s = 2 ** b.level;
    for (let z = b.z * s; z < Math.min((b.z + 1) * s, nz); z++)
      for (let y = b.y * s; y < Math.min((b.y + 1) * s, ny); y++)
        for (let x = b.x * s; x < Math.min((b.x + 1) * s, nx); x++) {
          const i = 4 * ((z * ny + y) * nx + x);
          table[i] = slot[0];
          table[i + 1] = slot[1];
          table[i + 2] = slot[2];
          table[i + 3] = b.level + 1;
        }
  }
  return table;
}
