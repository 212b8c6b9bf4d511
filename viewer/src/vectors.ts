// vectors.ts -- variables with several components: which one is shown, or the length of the vector.
import type { App } from "./app.ts";
import { row, select } from "./dom.ts";
import { isPresent, magnitude, type GridLook } from "./look.ts";
import type { Series, Variable } from "./source.ts";
import type { View } from "./state.ts";

/** Ask for a component; or for all of them, and take the length. */
export async function valueOf(look: GridLook, ask: (component: number) => Promise<number>): Promise<number> {
  if (look.component !== magnitude) return ask(look.component);
  return Math.hypot(...(await Promise.all(look.variable.ranges.map((_, i) => ask(i)))));
}

export async function seriesOf(look: GridLook, ask: (component: number) => Promise<Series>): Promise<Series> {
  if (look.component !== magnitude) return ask(look.component);
  const all = await Promise.all(look.variable.ranges.map((_, i) => ask(i)));
  const length = (i: number) => Math.hypot(...all.map((series) => series.values[i]!));
  return { times: all[0].times, values: all[0].values.map((_, i) => (all.some((s) => s.values[i] === null) ? null : length(i))) };
}

export function nameWith(variable: Variable, component: number): string {
  if (variable.components === 1) return variable.name;
  return component === magnitude ? `|${variable.name}|` : `${variable.name}[${component}]`;
}

function componentSelect(variable: Variable, now: number, changed: (component: number) => void, label: string): HTMLElement {
  const values = [[String(magnitude), "length"], ...variable.ranges.map((_, i) => [String(i), `[${i}]`])] as [string, string][];
  return row("component", select(values, String(now), (c) => changed(Number(c)), label));
}

type Pair = [number, number];
type RangeRow = (now: () => Pair, fixed: boolean, changed: (range: Pair | null) => void, label: string) => HTMLElement;

/** Controls: the component; and by which variable of the same grid it is coloured. */
export function variableRows(app: App, look: GridLook, set: (change: Partial<View>) => void, rangeRow: RangeRow): HTMLElement[] {
  const out: HTMLElement[] = [];
  if (look.variable.components > 1) out.push(componentSelect(look.variable, look.component, (component) => set({ component, range: null, iso: null }), "Component"));
  const others = look.grid.variables.filter((v) => isPresent(v) && (v !== look.variable || v.components > 1));
  if (look.dims < 3 || app.view.mode === "slices" || others.length === 0) return out;
  const values = [["", "itself"], ...others.map((v) => [v.name, v.name])] as [string, string][];
  out.push(row("coloured by", select(values, look.tint?.name ?? "", (tint) => set({ tint, tintComponent: 0, tintRange: null }), "Tinted by")));
  if (!look.tint) return out;
  if (look.tint.components > 1) out.push(componentSelect(look.tint, look.tintComponent, (tintComponent) => set({ tintComponent, tintRange: null }), "Tint, which part"));
  out.push(rangeRow(() => app.tintRange(app.gridLook()!), app.view.tintRange !== null, (tintRange) => set({ tintRange }), "Tint range"));
  return out;
}
