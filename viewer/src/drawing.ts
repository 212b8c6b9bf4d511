// drawing.ts -- a grid as it is drawn: a volume, or up to three slices, each with its own bricks.
//
// A slice is a grid of its own, one sample thick: what is fetched for it is what it shows.
import type * as THREE from "three";
import type { Stop } from "./colours.ts";
import { Loader, type Channel, type Progress, type Shown } from "./loader.ts";
import { magnitude, recorded, type GridLook } from "./look.ts";
import { brickSize, type Box, type Camera, type Pyramid, type Vector } from "./plan.ts";
import { seesOpacity, seesSurface, type Sees } from "./ranges.ts";
import type { Source, Variable, Which } from "./source.ts";
import { axes, type Axis, type Mode } from "./state.ts";
import { sliceShape, Volume } from "./volume.ts";

/** Memory of the graphics card for bricks. */
export const atlasBytes = 128 << 20;

/** What a view wants of a grid. */
export interface Wanted {
  which: Which;
  look: GridLook;
  mode: Mode;
  slices: Partial<Record<Axis, number>>;
  box: Box; // that is shown
  scale: Vector; // the world is sample * scale + offset
  offset: Vector;
  camera: Camera;
  finest: number; // level
  map: string;
  stops: readonly Stop[];
  range: [number, number];
  tintRange: [number, number];
  iso: number;
  nearest: boolean;
}

export function channelOf(variable: Variable, component: number, [low, high]: [number, number]): Channel {
  if (component !== magnitude) return { variable: variable.name, parts: [{ component, low, high }], low, high };
  const parts = variable.ranges.map((_, i) => ({ component: i, low: recorded(variable, i)[0], high: recorded(variable, i)[1] }));
  return { variable: variable.name, parts, low, high };
}

/** The largest error of a sample; null: unknown. */
function errorOf(v: Variable): number | null {
  return v.largest_error === null ? null : Math.max(v.bound, v.largest_error);
}

function seesOf(w: Wanted): Sees | null {
  const [low, high] = w.range;
  if (w.mode === "volume") return seesOpacity(w.stops, low, high);
  return w.mode === "iso" ? seesSurface(w.iso, (high - low) / 254) : null;
}

/** Scale and offset for values that were fetched with one range, and are drawn with another. */
function rescale(to: THREE.Vector2, from: Channel, [low, high]: [number, number]): void {
  to.set((from.high - from.low) / (high - low), (from.low - low) / (high - low));
}

export class Drawing {
  readonly parts: { loader: Loader; volume: Volume }[];
  private wanted: Wanted | null = null;

  constructor(source: Source, renderer: THREE.WebGLRenderer, readonly look: GridLook, sliced: Axis[] | null, changed: () => void, failed: (error: unknown) => void) {
    const across: (number | null)[] = sliced ? sliced.map((axis) => axes.indexOf(axis)) : [null];
    this.parts = across.map((axis) => {
      const shape = axis === null ? look.shape : sliceShape(look.shape, axis);
      const pyramid: Pyramid = { shape, levels: look.grid.levels, size: brickSize(shape) };
      const volume = new Volume(renderer, pyramid, look.tint ? 2 : 1, atlasBytes / across.length, axis);
      return { volume, loader: new Loader(source, volume, changed, failed) };
    });
  }

  /** Whether it can show this, or another is to be made. */
  static keyOf(look: GridLook, sliced: Axis[] | null): string {
    return JSON.stringify([look.shape, look.grid.levels, look.tint !== null, sliced]);
  }

  get volumes(): Volume[] {
    return this.parts.map((part) => part.volume);
  }
  get slots(): number {
    return this.volumes.reduce((n, v) => n + v.count, 0);
  }
  get bytes(): number {
    return this.volumes.reduce((n, v) => n + v.bytes, 0);
  }
  /** The volume's loader; null: there are slices. */
  private get whole(): Loader | null {
    return this.volumes[0]?.across === null ? this.parts[0].loader : null;
  }

  show(w: Wanted): void {
    this.wanted = w;
    const { look } = w;
    const channels = [channelOf(look.variable, look.component, w.range)];
    if (look.tint) channels.push(channelOf(look.tint, look.tintComponent, w.tintRange));
    const patches = look.shape.reduce((n, extent, i) => n * Math.ceil(extent / look.patch[i]), 1);
    for (const { loader, volume } of this.parts) {
      const axis = volume.across;
      const index = axis === null ? 0 : w.slices[axes[axis]]!;
      const within = (v: Vector, end: number) => v.map((x, i) => (i === axis ? end : x)) as Vector;
      let { offset, camera, box } = w;
      if (axis !== null) {
        const isIn = box.low[axis] <= index + 0.5 && index + 0.5 <= box.high[axis];
        offset = within(offset, offset[axis] + index * w.scale[axis]);
        camera = { ...camera, offset };
        box = { low: within(box.low, 0), high: within(box.high, isIn ? 1 : 0) };
      }
      volume.setPlace(w.scale, offset, box.low, box.high);
      volume.setColours(w.map, w.stops);
      const u = volume.uniforms;
      u.uMode.value = { volume: 0, max: 1, iso: 2, slices: 0 }[w.mode];
      u.uNearest.value = w.nearest;
      u.uTinted.value = look.tint !== null;
      const shown: Shown = { ...w.which, channels, dims: look.dims, slice: axis === null ? null : { axis, index }, patch: look.patch, patches, error: errorOf(look.variable) };
      loader.show(shown, { camera, finest: Math.min(w.finest, look.grid.levels - 1), ...box }, seesOf(w));
    }
  }

  /** Before a frame. */
  update(): void {
    for (const { loader, volume } of this.parts) {
      loader.update();
      const channels = loader.current?.channels;
      if (!channels || !this.wanted) continue;
      const { range, tintRange, iso } = this.wanted;
      const [drawn, tint] = channels;
      const u = volume.uniforms;
      rescale(u.uRange.value, drawn, range);
      u.uIso.value = (iso - drawn.low) / (drawn.high - drawn.low);
      if (tint) rescale(u.uTintRange.value, tint, tintRange);
    }
  }

  /** The graphics card has forgotten everything. */
  restore(): void {
    for (const { loader } of this.parts) loader.restore();
  }

  dispose(): void {
    for (const { loader, volume } of this.parts) {
      loader.stop();
      volume.dispose();
    }
  }

  progress(): Progress {
    const all = this.parts.map(({ loader }) => loader.progress());
    const levels = all.map((p) => p.level).filter((l) => l !== null);
    const errors = all.map((p) => p.error).filter((e) => e !== null);
    return {
      wanted: all.reduce((n, p) => n + p.wanted, 0), there: all.reduce((n, p) => n + p.there, 0),
      level: levels.length ? Math.min(...levels) : null, error: errors.length === all.length ? Math.max(0, ...errors) : null,
      complete: all.every((p) => p.complete), settled: all.every((p) => p.settled),
    };
  }

  canShow(): boolean {
    return this.parts.every(({ loader }) => loader.canShow());
  }
  hasPicture(): boolean {
    return this.parts.every(({ loader }) => loader.hasPicture());
  }

  /** Of the volume, how often each byte is there; see Loader. */
  histogram(): number[] {
    return this.whole?.histogram() ?? [];
  }
  byteAt(u: Vector): number {
    return this.whole?.byteAt(u) ?? 0;
  }
  /** What its bytes mean. */
  get drawn(): Channel | null {
    return this.whole?.current?.channels[0] ?? null;
  }
}
