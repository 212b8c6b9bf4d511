// ranges.ts -- between which values the samples of a brick are: from the ranges of patches, which a
// source knows without reading a sample. What cannot be seen is neither fetched nor marched through.
import { bricksOf, boxOf, type Brick, type Pyramid, type Vector } from "./plan.ts";
import { opacityAt, type Stop } from "./colours.ts";
import type { PatchRanges } from "./source.ts";

/** Whether something between two values can be seen. */
export type Sees = (low: number, high: number) => boolean;

interface Level {
  count: Vector;
  low: Float32Array; // above 'high' if there are no values
  high: Float32Array;
}

function widen(level: Level, to: number, low: number, high: number): void {
  if (low < level.low[to]) level.low[to] = low;
  if (high > level.high[to]) level.high[to] = high;
}

function empty(count: Vector): Level {
  const n = count[0] * count[1] * count[2];
  return { count, low: new Float32Array(n).fill(Infinity), high: new Float32Array(n).fill(-Infinity) };
}

export class BrickRanges {
  private readonly levels: Level[];

  /** 'patch' is the shape of a patch, x, y, z; the axes of 'ranges' are in the order of the grid's
   *  shape. Samples are off by 'error' at most. */
  constructor(p: Pyramid, patch: Vector, ranges: PatchRanges, private readonly error: number) {
    const patches = [...Array<number>(3 - ranges.shape.length).fill(1), ...ranges.shape].reverse() as Vector;
    const finest = empty(bricksOf(p, 0));
    eachBrick(finest.count, (b, at) => {
      const { low, high } = boxOf(p, b);
      const first = low.map((v, i) => Math.floor(v / patch[i]));
      const last = high.map((v, i) => Math.min(Math.floor((v - 1) / patch[i]), patches[i] - 1));
      for (let z = first[2]; z <= last[2]; z++)
        for (let y = first[1]; y <= last[1]; y++)
          for (let x = first[0]; x <= last[0]; x++) {
            const pair = 2 * ((z * patches[1] + y) * patches[0] + x);
            widen(finest, at, ranges.pairs[pair], ranges.pairs[pair + 1]); // NaN widens nothing
          }
    });
    this.levels = [finest];
    // The boxes of a brick's eight parts, with one sample more each, are just its own box.
    for (let k = 1; k < p.levels; k++) {
      const finer = this.levels[k - 1];
      const level = empty(bricksOf(p, k));
      const [nx, ny] = level.count;
      eachBrick(finer.count, (b, at) => widen(level, ((b.z >> 1) * ny + (b.y >> 1)) * nx + (b.x >> 1), finer.low[at], finer.high[at]));
      this.levels.push(level);
    }
  }

  hides(b: Brick, sees: Sees): boolean {
    const { count, low, high } = this.levels[b.level];
    const at = (b.z * count[1] + b.y) * count[0] + b.x;
    return low[at] > high[at] || !sees(low[at] - this.error, high[at] + this.error);
  }
}

function eachBrick([nx, ny, nz]: Vector, call: (b: Brick, at: number) => void): void {
  let at = 0;
  for (let z = 0; z < nz; z++) for (let y = 0; y < ny; y++) for (let x = 0; x < nx; x++) call({ level: 0, x, y, z }, at++);
}

/** Of opacities over values from 'low' to 'high', as they are drawn: in 256 steps, with those
 *  between two steps as a mixture, from samples in 255 shades. */
export function seesOpacity(stops: readonly Stop[], low: number, high: number): Sees {
  const part = (value: number) => Math.min(Math.max((value - low) / (high - low), 0), 1);
  return (a, b) => {
    const [from, to] = [part(a) - 1 / 100, part(b) + 1 / 100];
    return opacityAt(stops, from) > 0 || opacityAt(stops, to) > 0 || stops.some(([x, y]) => y > 0 && x >= from && x <= to);
  };
}

/** Of a surface; 'shade' is the difference from one shade to the next. */
export function seesSurface(value: number, shade: number): Sees {
  return (a, b) => a - shade <= value && value <= b + shade;
}
