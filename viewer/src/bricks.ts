// bricks.ts -- the bricks in memory: a fixed number of slots, and the one that was not wanted for
// longest goes first.

export interface Entry<T> {
  slot: number;
  value: T;
}

export class BrickCache<T> {
  private readonly entries = new Map<string, Entry<T>>(); // the least recently wanted first
  private readonly free: number[];

  constructor(readonly slots: number) {
    this.free = Array.from({ length: slots }, (_, i) => slots - 1 - i);
  }

  get size(): number {
    return this.entries.size;
  }

  has(key: string): boolean {
    return this.entries.has(key);
  }

  get(key: string): Entry<T> | undefined {
    return this.entries.get(key);
  }

  /** It is wanted now. */
  touch(key: string): void {
    const entry = this.entries.get(key);
    if (!entry) return;
    this.entries.delete(key);
    this.entries.set(key, entry);
  }

  /** Keep a value, in place of one that 'keep' does not hold to. Null: all are to be kept. */
  add(key: string, value: T, keep: (key: string) => boolean): number | null {
    const there = this.entries.get(key);
    if (there) {
      there.value = value;
      this.touch(key);
      return there.slot;
    }
    let slot = this.free.pop();
    if (slot === undefined) {
      for (const [old, entry] of this.entries) {
        if (keep(old)) continue;
        this.entries.delete(old);
        slot = entry.slot;
        break;
      }
    }
    if (slot === undefined) return null;
    this.entries.set(key, { slot, value });
    return slot;
  }

  *[Symbol.iterator](): Iterator<[string, Entry<T>]> {
    yield* this.entries;
  }
}
