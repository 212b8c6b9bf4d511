// loader.ts -- keeps the bricks that a plan wants in the atlas: fetches, sends, and forgets.
import { BrickCache } from "./bricks.ts";
import { boxOf, keyOf, pageTable, planBricks, roots, type Brick, type Pyramid, type Vector, type Wish } from "./plan.ts";
import type { Source, Which } from "./source.ts";
import { fillSlot, type Volume } from "./volume.ts";

/** What is shown of a grid: another one has other bricks. */
export interface Shown extends Which {
  variable: string;
  component: number;
  low: number;
  high: number;
  dims: number;
}

interface Held {
  shown: string;
  brick: Brick;
  data: Uint8Array;
  error: number | null;
}

export interface Progress {
  wanted: number;
  there: number;
  level: number | null; // the finest there; null: nothing yet
  error: number | null;
  complete: boolean;
}

function nameOf(s: Shown): string {
  return [s.run, s.step, s.tag, s.object, s.variable, s.component, s.low, s.high].join("\n");
}

const atOnce = 6;

export class Loader {
  readonly cache: BrickCache<Held>;
  /** What the page table shows, whose low and high tell what its bytes mean. */
  current: Shown | null = null;
  private target: Shown | null = null;
  private plan: Brick[] = [];
  private wanted = new Set<string>();
  private readonly underWay = new Set<string>();
  private dirty = false;

  constructor(private readonly source: Source, readonly volume: Volume, private readonly changed: () => void, private readonly failed: (error: unknown) => void) {
    this.cache = new BrickCache(volume.count);
  }

  private get pyramid(): Pyramid {
    return this.volume.pyramid;
  }

  private key(shown: Shown, brick: Brick): string {
    return `${nameOf(shown)}\n${keyOf(brick)}`;
  }

  /** Show this from now on; what was there stays until its coarsest level has come. */
  show(shown: Shown, wish: Omit<Wish, "most">): void {
    this.target = shown;
    // Room for the coarsest bricks of two steps, so that one can follow the other.
    const most = Math.max(this.volume.count - roots(this.pyramid).length, Math.ceil(this.volume.count / 2));
    this.plan = planBricks(this.pyramid, { ...wish, most });
    this.wanted = new Set(this.plan.map((b) => this.key(shown, b)));
    for (const brick of [...this.plan].reverse()) this.cache.touch(this.key(shown, brick));
    this.dirty = true;
    this.pump();
  }

  private keeps(key: string): boolean {
    if (this.wanted.has(key)) return true;
    // The picture before, until there is another.
    const held = this.cache.get(key)?.value;
    return !!held && !!this.current && this.current !== this.target && held.brick.level === this.pyramid.levels - 1 && held.shown === nameOf(this.current);
  }

  private pump(): void {
    const shown = this.target;
    if (!shown) return;
    // Nothing competes with the first picture.
    const first = this.rootsThere(shown) ? 0 : this.pyramid.levels - 1;
    for (const brick of this.plan) {
      if (this.underWay.size >= atOnce || brick.level < first) return;
      const key = this.key(shown, brick);
      if (!this.cache.has(key) && !this.underWay.has(key)) void this.fetch(shown, brick, key);
    }
  }

  private async fetch(shown: Shown, brick: Brick, key: string): Promise<void> {
    this.underWay.add(key);
    try {
      const { low, high } = boxOf(this.pyramid, brick);
      const box = [2, 1, 0].map((i) => [low[i], high[i]] as [number, number]).slice(3 - shown.dims);
      const { tag, run, step, object, variable, component } = shown;
      const got = await this.source.samples({ tag, run, step, object, variable, component, level: brick.level, box, low: shown.low, high: shown.high });
      const shape = [...Array<number>(3 - shown.dims).fill(1), ...got.shape.slice(0, shown.dims)].reverse() as Vector;
      const data = fillSlot(got.data, shape, this.pyramid.size);
      const slot = this.cache.add(key, { shown: nameOf(shown), brick, data, error: got.error }, (k) => this.keeps(k));
      if (slot !== null) this.volume.put(slot, data);
      this.dirty = true;
    } catch (error) {
      if (this.target === shown) this.failed(error);
      return;
    } finally {
      this.underWay.delete(key);
    }
    this.changed();
    this.pump();
  }

  private rootsThere(shown: Shown): boolean {
    const level = this.pyramid.levels - 1;
    return this.plan.filter((b) => b.level === level).every((b) => this.cache.has(this.key(shown, b)));
  }

  /** Before a frame: the page table. */
  update(): void {
    if (!this.dirty || !this.target) return;
    this.dirty = false;
    if (this.current !== this.target && (!this.current || nameOf(this.current) === nameOf(this.target) || this.rootsThere(this.target))) this.current = this.target;
    const name = nameOf(this.current!);
    const resident: [Brick, Vector][] = [];
    for (const [, { slot, value }] of this.cache) if (value.shown === name) resident.push([value.brick, this.volume.place(slot)]);
    this.volume.setPages(pageTable(this.pyramid, resident));
  }

  progress(): Progress {
    const shown = this.target;
    let there = 0;
    let level: number | null = null;
    let error: number | null = 0;
    for (const brick of shown ? this.plan : []) {
      const held = this.cache.get(this.key(shown!, brick))?.value;
      if (!held) continue;
      there++;
      level = Math.min(level ?? brick.level, brick.level);
      error = held.error === null || error === null ? null : Math.max(error, held.error);
    }
    return { wanted: this.plan.length, there, level, error, complete: shown !== null && there === this.plan.length };
  }

  /** Whether the coarsest level is there. */
  canShow(): boolean {
    return this.target !== null && this.rootsThere(this.target);
  }

  /** Whether the coarsest level is shown. */
  hasPicture(): boolean {
    return this.target !== null && this.current === this.target && this.rootsThere(this.target);
  }

  /** How often each byte is there, in the coarsest bricks. */
  histogram(): number[] {
    const counts = new Array<number>(256).fill(0);
    const name = this.current ? nameOf(this.current) : "";
    for (const [, { value }] of this.cache)
      if (value.shown === name && value.brick.level === this.pyramid.levels - 1) for (const byte of value.data) counts[byte]++;
    return counts;
  }

  /** The byte at a position in samples, of the finest brick there; 0: none. */
  byteAt(u: Vector): number {
    if (!this.current) return 0;
    const q = u.map((v, i) => Math.min(Math.max(Math.floor(v), 0), this.pyramid.shape[i] - 1));
    const { size, levels } = this.pyramid;
    for (let level = 0; level < levels; level++) {
      const [x, y, z] = q.map((v) => Math.floor(v / (size * 2 ** level)));
      const held = this.cache.get(this.key(this.current, { level, x, y, z }))?.value;
      if (!held) continue;
      const [i, j, k] = q.map((v) => Math.floor(v / 2 ** level) % size);
      return held.data[(k * (size + 1) + j) * (size + 1) + i];
    }
    return 0;
  }
}
