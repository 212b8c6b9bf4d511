// samples.ts -- bytes of samples, [z][y][x][channel]: cut, put together and filled up. Pure.
import type { Box, Vector } from "./plan.ts";

/** Of a value between 'low' and 'high'; 0 stands for none, so that 254 steps are left. */
export function byteOf(value: number, low: number, high: number): number {
  return Number.isNaN(value) ? 0 : 1 + Math.round(254 * Math.min(Math.max((value - low) / (high - low), 0), 1));
}
export function valueOf(byte: number, low: number, high: number): number {
  return low + ((byte - 1) / 254) * (high - low);
}

/** How many samples of 'level' are from 'low' on and before 'high'. */
function countIn(low: number, high: number, level: number): number {
  return Math.max(Math.ceil(high / 2 ** level) - Math.ceil(low / 2 ** level), 0);
}

/** Bytes of the answer for a box. */
export function bytesOf({ low, high }: Box, level: number, channels: number): number {
  return low.reduce((n, l, i) => n * countIn(l, high[i], level), channels);
}

/** The part of an answer that is in a box; the answer begins at 'first'. All in samples of level 0. */
export function cut(data: Uint8Array, shape: Vector, channels: number, level: number, first: Vector, box: Box): { data: Uint8Array; shape: Vector } {
  const at = box.low.map((l, i) => countIn(first[i], l, level));
  const count = box.low.map((l, i) => Math.min(countIn(l, box.high[i], level), shape[i] - at[i])) as Vector;
  if (count.every((n, i) => n === shape[i])) return { data, shape };
  const out = new Uint8Array(channels * count[0] * count[1] * count[2]);
  let to = 0;
  for (let z = 0; z < count[2]; z++)
    for (let y = 0; y < count[1]; y++) {
      const from = channels * (((z + at[2]) * shape[1] + y + at[1]) * shape[0] + at[0]);
      out.set(data.subarray(from, from + channels * count[0]), to);
      to += channels * count[0];
    }
  return { data: out, shape: count };
}

/** The samples of a brick in a box of one more than 'size' along each axis; the last are repeated. */
export function fillSlot(data: Uint8Array, shape: Vector, size: Vector, channels: number): Uint8Array {
  const [sx, sy, sz] = size.map((s) => s + 1);
  const [nx, ny, nz] = shape;
  if (nx === sx && ny === sy && nz === sz) return data;
  const out = new Uint8Array(channels * sx * sy * sz);
  for (let z = 0; z < sz; z++)
    for (let y = 0; y < sy; y++) {
      const row = channels * (Math.min(z, nz - 1) * ny + Math.min(y, ny - 1)) * nx;
      const to = channels * (z * sy + y) * sx;
      const end = row + channels * nx;
      out.set(data.subarray(row, end), to);
      for (let x = nx; x < sx; x++) out.set(data.subarray(end - channels, end), to + channels * x);
    }
  return out;
}

/** Several variables, side by side. */
export function interleave(lists: Uint8Array[]): Uint8Array {
  if (lists.length === 1) return lists[0];
  const n = lists.length;
  const out = new Uint8Array(n * lists[0].length);
  lists.forEach((list, c) => {
    for (let i = 0; i < list.length; i++) out[n * i + c] = list[i];
  });
  return out;
}

/** The length of vectors, from their components: half a shade off for each of these. */
export function magnitude(lists: Uint8Array[], how: { parts: { low: number; high: number }[]; low: number; high: number }): Uint8Array {
  const squares = how.parts.map(({ low, high }) => Float64Array.from({ length: 256 }, (_, byte) => (byte ? valueOf(byte, low, high) ** 2 : NaN)));
  const out = new Uint8Array(lists[0].length);
  for (let i = 0; i < out.length; i++) {
    let sum = 0;
    for (let c = 0; c < lists.length; c++) sum += squares[c][lists[c][i]];
    out[i] = byteOf(Math.sqrt(sum), how.low, how.high);
  }
  return out;
}
