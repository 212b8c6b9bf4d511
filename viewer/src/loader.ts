// loader.ts -- keeps the bricks that a plan wants in the atlas: fetches, sends, and forgets.
//
// First the coarsest level, in one request if it is small, and nothing beside it; then what is
// known of the ranges of bricks; then finer bricks. Whatever is answered, refused or cancelled, in
// whatever order: each request ends by a look for the next one, and none is repeated until there
// is something else to show.
import { BrickCache } from "./bricks.ts";
import { boxOf, keyOf, pageTable, planBricks, roots, tableOf, type Box, type Brick, type Pyramid, type Table, type Vector, type Wish } from "./plan.ts";
import { BrickRanges, type Sees } from "./ranges.ts";
import { bytesOf, cut, fillSlot, interleave, magnitude } from "./samples.ts";
import type { Source, Which } from "./source.ts";

/** A variable: one of its components, or the length of all. */
export interface Channel {
  variable: string;
  parts: { component: number; low: number; high: number }[];
  low: number; // what bytes 1 and 255 mean
  high: number;
}

/** What is shown of a grid: another one has other bricks. */
export interface Shown extends Which {
  channels: Channel[]; // what is drawn; then what it is coloured by
  dims: number;
  slice: { axis: number; index: number } | null; // null: all
  patch: Vector; // shape of a patch
  patches: number;
  error: number | null; // of a sample; null: unknown
}

/** Where bricks are drawn from. */
export interface Atlas {
  readonly pyramid: Pyramid;
  readonly count: number; // slots
  put(slot: number, data: Uint8Array): void;
  place(slot: number): Vector;
  setPages(pages: Uint8Array, table: Table): void;
}

interface Job {
  abort: AbortController;
  first: boolean; // of the coarsest level
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
  complete: boolean; // all is there
  settled: boolean; // or refused: no more will come
}

const names = new WeakMap<Shown, string>();

function nameOf(s: Shown): string {
  const name = names.get(s) ?? JSON.stringify([s.run, s.step, s.tag, s.object, s.channels, s.slice]);
  names.set(s, name);
  return name;
}

const atOnce = 6;
const mostRootBytes = 4 << 20; // in one request
const mostRanges = 2 ** 19; // patches

export class Loader {
  readonly cache: BrickCache<Held>;
  /** What the page table shows, whose channels tell what its bytes mean. */
  current: Shown | null = null;
  private target: Shown | null = null;
  private wish: Omit<Wish, "most" | "hides"> | null = null;
  private sees: Sees | null = null;
  private table: Table;
  private plan: Brick[] = [];
  private wanted = new Set<string>();
  private refused = new Set<string>(); // of the plan: not to be asked for again
  private readonly underWay = new Map<string, Job>(); // the oldest first
  private ranges: { name: string; table: BrickRanges | null } = { name: "", table: null };
  private rangesUnderWay = "";
  private dirty = false;
  private turn = 0;
  private readonly turns = new WeakMap<Shown, number>(); // when it was to be shown

  constructor(private readonly source: Source, readonly atlas: Atlas, private readonly changed: () => void, private readonly failed: (error: unknown) => void) {
    this.cache = new BrickCache(atlas.count);
    this.table = tableOf(atlas.pyramid, [0, 0, 0], atlas.pyramid.shape);
  }

  private get pyramid(): Pyramid {
    return this.atlas.pyramid;
  }

  private key(shown: Shown, brick: Brick): string {
    return `${nameOf(shown)}\n${keyOf(brick)}`;
  }

  // ---- what is wanted ---------------------------------------------------------------

  /** Show this from now on; what was there stays until its coarsest level has come. 'sees' tells
   *  which values can be seen; null: all of them. */
  show(shown: Shown, wish: Omit<Wish, "most" | "hides">, sees: Sees | null): void {
    this.target = shown;
    this.turns.set(shown, ++this.turn);
    this.wish = wish;
    this.sees = sees;
    this.table = tableOf(this.pyramid, wish.low, wish.high);
    this.refused.clear();
    this.replan();
    this.cancel();
    this.pump();
  }

  /** Requests that nothing is wanted of. Their places are free at once, even if they do not end.
   *  Of those for a first picture, the oldest goes on: who drags a slider sees something. */
  private cancel(): void {
    const needed = new Set<Job>();
    for (const [key, job] of this.underWay) if (this.wanted.has(key)) needed.add(job);
    for (const job of this.underWay.values())
      if (job.first && !needed.has(job) && this.target) {
        needed.add(job);
        break;
      }
    for (const [key, job] of this.underWay) {
      if (needed.has(job)) continue;
      this.underWay.delete(key);
      job.abort.abort();
    }
  }

  private replan(): void {
    const shown = this.target!;
    // Room for the coarsest bricks of two steps, so that one can follow the other.
    const most = Math.max(this.atlas.count - roots(this.pyramid).length, Math.ceil(this.atlas.count / 2));
    const finest = Math.max(this.wish!.finest, this.table.level);
    this.plan = planBricks(this.pyramid, { ...this.wish!, most, finest, hides: this.hides(shown) });
    this.wanted = new Set(this.plan.map((b) => this.key(shown, b)));
    for (const brick of [...this.plan].reverse()) this.cache.touch(this.key(shown, brick));
    this.dirty = true;
  }

  private keeps(key: string): boolean {
    if (this.wanted.has(key)) return true;
    // The picture before, until there is another.
    const held = this.cache.get(key)?.value;
    return !!held && !!this.current && this.current !== this.target && held.brick.level === this.pyramid.levels - 1 && held.shown === nameOf(this.current);
  }

  // ---- ranges -------------------------------------------------------------------------

  /** The name of the ranges that tell what is hidden; "": there are none. */
  private rangesOf(shown: Shown): string {
    const { parts, variable } = shown.channels[0];
    if (!this.sees || !this.source.ranges || parts.length !== 1 || shown.error === null || shown.patches > mostRanges || shown.slice) return "";
    return JSON.stringify([shown.run, shown.step, shown.tag, shown.object, variable, parts[0].component]);
  }

  private hides(shown: Shown): Wish["hides"] {
    const { table, name } = this.ranges;
    const { sees } = this;
    return table && sees && name === this.rangesOf(shown) ? (b) => table.hides(b, sees) : null;
  }

  private async fetchRanges(shown: Shown, name: string): Promise<void> {
    this.rangesUnderWay = name;
    let table: BrickRanges | null = null;
    try {
      const { variable, parts } = shown.channels[0];
      const { tag, run, step, object } = shown;
      const got = await this.source.ranges!({ tag, run, step, object }, variable, parts[0].component);
      if (got) table = new BrickRanges(this.pyramid, shown.patch, got, shown.error ?? 0);
    } catch {
      // Without them, more is fetched: no harm.
    }
    if (this.rangesUnderWay !== name) return; // others are wanted now
    this.rangesUnderWay = "";
    this.ranges = { name, table };
    this.replan();
    this.changed();
    this.pump();
  }

  // ---- requests ---------------------------------------------------------------------------

  private isMissing(shown: Shown, brick: Brick): boolean {
    const key = this.key(shown, brick);
    return !this.cache.has(key) && !this.underWay.has(key) && !this.refused.has(key);
  }

  private pump(): void {
    const shown = this.target;
    if (!shown) return;
    const coarsest = this.plan.filter((b) => b.level === this.pyramid.levels - 1);
    const missing = coarsest.filter((b) => this.isMissing(shown, b));
    if (missing.length && bytesOf(this.around(missing), missing[0].level, shown.channels.length) <= mostRootBytes) void this.fetch(shown, missing);
    else this.fetchEach(shown, missing);
    // Nothing competes with the first picture.
    if (coarsest.some((b) => !this.isSettled(shown, b))) return;
    const name = this.rangesOf(shown);
    if (name && this.ranges.name !== name) {
      if (this.rangesUnderWay !== name) void this.fetchRanges(shown, name);
      return;
    }
    this.fetchEach(shown, this.plan.filter((b) => this.isMissing(shown, b)));
  }

  private fetchEach(shown: Shown, missing: Brick[]): void {
    const busy = new Set<Job>();
    for (const [key, job] of this.underWay) if (this.wanted.has(key)) busy.add(job);
    for (const brick of missing.slice(0, Math.max(atOnce - busy.size, 0))) void this.fetch(shown, [brick]);
  }

  private around(bricks: Brick[]): Box {
    const boxes = bricks.map((b) => boxOf(this.pyramid, b));
    return {
      low: [0, 1, 2].map((i) => Math.min(...boxes.map((b) => b.low[i]))) as Vector,
      high: [0, 1, 2].map((i) => Math.max(...boxes.map((b) => b.high[i]))) as Vector,
    };
  }

  /** Bricks of one level, in one request. */
  private async fetch(shown: Shown, bricks: Brick[]): Promise<void> {
    const job: Job = { abort: new AbortController(), first: bricks[0].level === this.pyramid.levels - 1 };
    const { signal } = job.abort;
    const keys = bricks.map((b) => this.key(shown, b));
    for (const key of keys) this.underWay.set(key, job);
    try {
      const box = this.around(bricks);
      const got = await this.samples(shown, bricks[0].level, box, signal);
      if (this.target === null) return; // there is no atlas any more
      bricks.forEach((brick, i) => {
        const part = cut(got.data, got.shape, shown.channels.length, brick.level, box.low, boxOf(this.pyramid, brick));
        this.keep(shown, brick, keys[i], fillSlot(part.data, part.shape, this.pyramid.size, shown.channels.length), got.error);
      });
      // Not what is wanted by now, but newer than what is shown.
      const since = this.current ? this.turns.get(this.current)! : 0;
      if (job.first && shown !== this.target && this.turns.get(shown)! > since && this.rootsThere(shown)) this.current = shown;
    } catch (error) {
      if (!signal.aborted) for (const key of keys) this.refused.add(key);
      if (!signal.aborted && keys.some((key) => this.wanted.has(key))) this.failed(error);
    } finally {
      for (const key of keys) if (this.underWay.get(key) === job) this.underWay.delete(key);
    }
    this.changed();
    this.pump();
  }

  private keep(shown: Shown, brick: Brick, key: string, data: Uint8Array, error: number | null): void {
    const held: Held = { shown: nameOf(shown), brick, data, error };
    // What is wanted comes before the picture that was.
    let slot = this.cache.add(key, held, (k) => this.keeps(k));
    if (slot === null && this.wanted.has(key)) slot = this.cache.add(key, held, (k) => this.wanted.has(k));
    if (slot === null) this.refused.add(key);
    else this.atlas.put(slot, data);
    this.dirty = true;
  }

  /** All channels of a box in samples of level 0, side by side. */
  private async samples(shown: Shown, level: number, { low, high }: Box, signal: AbortSignal): Promise<{ data: Uint8Array; shape: Vector; error: number | null }> {
    const [from, to] = [[...low], [...high]];
    if (shown.slice) {
      const { axis, index } = shown.slice; // the layer of this level at it or before
      from[axis] = Math.floor(index / 2 ** level) * 2 ** level;
      to[axis] = from[axis] + 1;
    }
    const box = [2, 1, 0].map((i) => [from[i], to[i]] as [number, number]).slice(3 - shown.dims);
    const { tag, run, step, object, channels } = shown;
    const parts = channels.map(({ variable, parts }) => parts.map((part) => this.source.samples({ tag, run, step, object, variable, level, box, ...part }, signal)));
    const all = await Promise.all(parts.map((list) => Promise.all(list)));
    const shape = [...Array<number>(3 - shown.dims).fill(1), ...all[0][0].shape.slice(0, shown.dims)].reverse() as Vector;
    const lists = all.map((list, i) => (list.length === 1 ? list[0].data : magnitude(list.map((s) => s.data), channels[i])));
    return { data: interleave(lists), shape, error: all[0].length === 1 ? all[0][0].error : null };
  }

  // ---- what is there ------------------------------------------------------------------------

  /** It is there, or will not come. */
  private isSettled(shown: Shown, brick: Brick): boolean {
    const key = this.key(shown, brick);
    return this.cache.has(key) || this.refused.has(key);
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
    for (const [, { slot, value }] of this.cache) if (value.shown === name) resident.push([value.brick, this.atlas.place(slot)]);
    this.atlas.setPages(pageTable(this.pyramid, this.table, resident, this.hides(this.current!)), this.table);
  }

  /** The graphics card has forgotten everything. */
  restore(): void {
    for (const [, { slot, value }] of this.cache) this.atlas.put(slot, value.data);
    this.dirty = true;
  }

  /** Nothing of this is wanted any more. */
  stop(): void {
    this.target = null;
    this.plan = [];
    this.wanted.clear();
    this.rangesUnderWay = "";
    this.cancel();
  }

  progress(): Progress {
    const shown = this.target;
    let there = 0;
    let settled = 0;
    let level: number | null = null;
    let error: number | null = 0;
    for (const brick of shown ? this.plan : []) {
      if (this.isSettled(shown!, brick)) settled++;
      const held = this.cache.get(this.key(shown!, brick))?.value;
      if (!held) continue;
      there++;
      level = Math.min(level ?? brick.level, brick.level);
      error = held.error === null || error === null ? null : Math.max(error, held.error);
    }
    const knows = shown !== null && (this.rangesOf(shown) === "" || this.rangesOf(shown) === this.ranges.name || !this.rootsThere(shown));
    return { wanted: this.plan.length, there, level, error, complete: knows && there === this.plan.length, settled: knows && settled === this.plan.length };
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
    if (!this.current) return counts;
    const name = nameOf(this.current);
    const channels = this.current.channels.length;
    for (const [, { value }] of this.cache)
      if (value.shown === name && value.brick.level === this.pyramid.levels - 1) for (let i = 0; i < value.data.length; i += channels) counts[value.data[i]]++;
    return counts;
  }

  /** The byte of what is drawn at a position in samples, of the finest brick there; 0: none. */
  byteAt(u: Vector): number {
    if (!this.current) return 0;
    const q = u.map((v, i) => Math.min(Math.max(Math.floor(v), 0), this.pyramid.shape[i] - 1));
    const { size, levels } = this.pyramid;
    for (let level = 0; level < levels; level++) {
      const [x, y, z] = q.map((v, i) => Math.floor(v / (size[i] * 2 ** level)));
      const held = this.cache.get(this.key(this.current, { level, x, y, z }))?.value;
      if (!held) continue;
      const [i, j, k] = q.map((v, a) => Math.floor(v / 2 ** level) % size[a]);
      return held.data[this.current.channels.length * ((k * (size[1] + 1) + j) * (size[0] + 1) + i)];
    }
    return 0;
  }
}
