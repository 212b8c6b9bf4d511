// pick.ts -- which sample of a volume is under the pointer.
import type { Vector } from "./plan.ts";

/** A ray in samples; t = 1 is one sample along its main axis. */
export interface Line {
  start: Vector;
  direction: Vector;
}

export function lineOf(origin: Vector, direction: Vector, scale: Vector, offset: Vector): Line {
  const d = direction.map((v, i) => v / scale[i]);
  const speed = Math.max(...d.map(Math.abs));
  return { start: origin.map((v, i) => (v - offset[i]) / scale[i]) as Vector, direction: d.map((v) => v / speed) as Vector };
}

/** From where to where a line is in a box; null: nowhere. */
export function clip(line: Line, low: Vector, high: Vector): [number, number] | null {
  let [from, to] = [-Infinity, Infinity];
  for (let i = 0; i < 3; i++) {
    const d = line.direction[i];
    if (Math.abs(d) < 1e-9) {
      if (line.start[i] < low[i] || line.start[i] > high[i]) return null;
      continue;
    }
    const a = (low[i] - line.start[i]) / d;
    const b = (high[i] - line.start[i]) / d;
    from = Math.max(from, Math.min(a, b));
    to = Math.min(to, Math.max(a, b));
  }
  return from < to ? [from, to] : null;
}

export function pointAt(line: Line, t: number): Vector {
  return line.start.map((v, i) => v + line.direction[i] * t) as Vector;
}

/** Where a plane of samples is met inside of a box. */
export function meetPlane(line: Line, axis: number, index: number, low: Vector, high: Vector): number | null {
  const d = line.direction[axis];
  if (Math.abs(d) < 1e-9) return null;
  const t = (index + 0.5 - line.start[axis]) / d;
  return pointAt(line, t).every((v, i) => i === axis || (v >= low[i] && v <= high[i])) ? t : null;
}

export type Look = { kind: "max" } | { kind: "iso"; byte: number } | { kind: "volume"; opacity(byte: number): number; dense: number };

/** The place that is seen first or most: the maximum, the surface, or where half is hidden. */
export function march(line: Line, from: number, to: number, byteAt: (u: Vector) => number, look: Look): Vector | null {
  let best: Vector | null = null;
  let most = 0;
  let last = 0;
  let seen = 0;
  for (let t = from + 0.5; t < to; t++) {
    const u = pointAt(line, t);
    const byte = byteAt(u);
    if (byte === 0) continue;
    if (look.kind === "max") {
      if (byte > most) [most, best] = [byte, u];
    } else if (look.kind === "iso") {
      if (last && (byte - look.byte) * (last - look.byte) <= 0) return u;
      last = byte;
    } else {
      const share = (1 - seen) * (1 - (1 - Math.min(look.opacity(byte), 0.999)) ** (1 / look.dense));
      seen += share;
      if (share > most) [most, best] = [share, u];
      if (seen > 0.5) return u;
    }
  }
  return look.kind === "volume" && seen < 0.02 ? null : best;
}
