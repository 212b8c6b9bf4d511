// undo.ts -- what was chosen before: how things look and what is left out; not where one stands.
import type { View } from "./state.ts";

const kept = ["run", "grid", "component", "mode", "map", "range", "stops", "iso", "slices", "nearest", "particles", "colour", "pointMap", "pointRange", "quality", "size", "filters", "box"] as const;
const most = 100;
/** Changes of the same thing within this time are one, in milliseconds: a slider that is dragged. */
const together = 800;

export class Undo {
  private readonly past: Partial<View>[] = [];
  private last = { what: "", time: -Infinity };

  /** Before a change. */
  remember(view: View, change: Partial<View>, now: number): void {
    const what = kept.filter((key) => key in change && JSON.stringify(change[key]) !== JSON.stringify(view[key])).join();
    if (!what) return;
    const same = what === this.last.what && now - this.last.time < together;
    this.last = { what, time: now };
    if (same) return;
    this.past.push(structuredClone(Object.fromEntries(kept.map((key) => [key, view[key]]))));
    if (this.past.length > most) this.past.shift();
  }

  /** What was before the last change; null: nothing was changed. */
  back(): Partial<View> | null {
    this.last = { what: "", time: -Infinity };
    return this.past.pop() ?? null;
  }
}
