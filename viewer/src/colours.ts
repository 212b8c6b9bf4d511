// colours.ts -- colour maps: those of 'bouma render', from the same table.
import maps from "colour-maps";

export type Colour = [number, number, number];

export const mapNames = Object.keys(maps);
/** What samples without a value are drawn in. */
export const missing: Colour = [255, 0, 255];

/** "magma_r" is "magma" from its other end. */
export function isInverted(map: string): boolean {
  return map.endsWith("_r");
}
export function plainMap(map: string): string {
  return isInverted(map) ? map.slice(0, -2) : map;
}
export function invertedMap(map: string): string {
  return isInverted(map) ? plainMap(map) : `${map}_r`;
}

/** The colour at 'where', from 0 to 1, as colour_map_at() of the program computes it. */
export function colourAt(map: string, where: number): Colour {
  const points = maps[plainMap(map)] ?? maps[mapNames[0]];
  const within = Math.min(Math.max(where, 0), 1);
  const at = (isInverted(map) ? 1 - within : within) * (points.length - 1);
  const i = Math.min(Math.floor(at), points.length - 2);
  return [0, 1, 2].map((c) => Math.floor(points[i][c] + (points[i + 1][c] - points[i][c]) * (at - i) + 0.5)) as Colour;
}

/** A point of a transfer function: a value from 0 to 1, and the opacity there. */
export type Stop = [number, number];

export function opacityAt(stops: readonly Stop[], where: number): number {
  if (stops.length === 0) return 1;
  if (where <= stops[0][0]) return stops[0][1];
  for (let i = 1; i < stops.length; i++) {
    const [x1, a1] = stops[i];
    const [x0, a0] = stops[i - 1];
    if (where <= x1) return x1 > x0 ? a0 + ((a1 - a0) * (where - x0)) / (x1 - x0) : a1;
  }
  return stops[stops.length - 1][1];
}

/** Colours and opacities at 'count' even places, as RGBA bytes. */
export function bake(map: string, stops: readonly Stop[], count = 256): Uint8Array {
  const out = new Uint8Array(count * 4);
  for (let i = 0; i < count; i++) {
    const where = i / (count - 1);
    out.set([...colourAt(map, where), Math.round(255 * opacityAt(stops, where))], i * 4);
  }
  return out;
}
