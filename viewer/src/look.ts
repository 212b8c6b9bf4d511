// look.ts -- what a view means for the objects of a step: pure.
import { numberOf, type Grid, type Particles, type Step, type Variable } from "./source.ts";
import { axes, type Axis, type Mode, type View } from "./state.ts";
import type { Vector } from "./plan.ts";
import type { Frame } from "./scene.ts";

export interface GridLook {
  grid: Grid;
  variable: Variable;
  component: number;
  dims: number;
  shape: Vector; // x, y, z
  origin: Vector;
  spacing: Vector;
  patch: Vector;
  tint: Variable | null; // what it is coloured by, if that is another variable
  tintComponent: number;
}

/** Stands for a component: the length of the vector. */
export const magnitude = -1;

/** A grid of fewer than three axes is an image. */
export function modeOf(dims: number, view: View): Mode {
  return dims < 3 ? "slices" : view.mode;
}

function componentOf(variable: Variable, component: number): number {
  return variable.components === 1 ? 0 : Math.min(component, variable.components - 1);
}

export function grids(step: Step): Grid[] {
  return step.objects.filter((o): o is Grid => o.kind === "grid" && o.shape.length <= 3);
}
export function sets(step: Step): Particles[] {
  return step.objects.filter((o): o is Particles => o.kind === "particles");
}
export function isPresent(variable: Variable): boolean {
  return variable.present !== false;
}
export function scalars(set: Particles): Variable[] {
  return set.variables.slice(1).filter((v) => isPresent(v) && v.components === 1);
}

/** Numbers of the last axes, as x, y, z. */
function reversed(list: readonly number[], missing: number): Vector {
  return [...Array<number>(3 - list.length).fill(missing), ...list].reverse() as Vector;
}

export function gridOf(step: Step, view: View): GridLook | null {
  for (const grid of grids(step))
    for (const variable of grid.variables)
      if (`${grid.name}/${variable.name}` === view.grid && isPresent(variable)) {
        const spacing = reversed(grid.spacing.map((s) => s || 1), 1); // negative: the other way
        // A grid of fewer axes is as thick as a sample is wide.
        for (let i = grid.shape.length; i < 3; i++) spacing[i] = Math.min(...spacing.slice(0, grid.shape.length).map(Math.abs));
        const tint = grid.variables.find((v) => v.name === view.tint && isPresent(v)) ?? null;
        return {
          grid, variable, component: componentOf(variable, view.component), dims: grid.shape.length,
          shape: reversed(grid.shape, 1), origin: reversed(grid.origin, 0), spacing, patch: reversed(grid.patch, 1),
          tint: modeOf(grid.shape.length, view) === "slices" ? null : tint, tintComponent: tint ? componentOf(tint, view.tintComponent) : 0,
        };
      }
  return null;
}

export function setOf(step: Step, view: View): Particles | null {
  return sets(step).find((set) => set.name === view.particles) ?? null;
}

/** A view of a step without a word about what to show: the first that there is. */
export function withDefaults(step: Step, view: View): Partial<View> {
  if (view.grid || view.particles) return {};
  const grid = grids(step).find((g) => g.variables.some(isPresent));
  if (grid) {
    const out: Partial<View> = { grid: `${grid.name}/${grid.variables.find(isPresent)!.name}` };
    return grid.shape.length === 3 ? out : { ...out, mode: "slices" };
  }
  const set = sets(step)[0];
  // Also a variable that only other steps have: a set can be empty at first.
  return set ? { particles: set.name, colour: set.variables.slice(1).find((v) => v.components === 1)?.name ?? "" } : {};
}

/** The same as render_widen() of the program. */
export function widened(low: number, high: number): [number, number] {
  const around = low !== 0 ? Math.abs(low) / 2 : 1;
  if (high - low > 1e-12 * Math.max(Math.abs(low), Math.abs(high))) return [low, high];
  return [low - around, high + around];
}

/** The range of a component, or of the length of vectors, as far as it is known; never empty. */
export function recorded(variable: Variable, component: number): [number, number] {
  const ends = variable.ranges.map((r) => [numberOf(r.low), numberOf(r.high)]);
  const used = component === magnitude ? ends : [ends[component] ?? [NaN, NaN]];
  if (used.some(([low, high]) => !Number.isFinite(low) || !Number.isFinite(high))) return [0, 1];
  if (component !== magnitude) return widened(used[0][0], used[0][1]);
  const least = used.map(([low, high]) => Math.max(low, -high, 0));
  return widened(Math.hypot(...least), Math.hypot(...used.map(([low, high]) => Math.max(Math.abs(low), Math.abs(high)))));
}

/** What a filter can be moved within: the values of the step, and the filter that there is. */
export function filterLimits(variable: Variable, filter?: [number, number]): [number, number] {
  const [low, high] = recorded(variable, 0);
  return filter ? [Math.min(low, filter[0]), Math.max(high, filter[1])] : [low, high];
}

/** Whether it has infinite values, and so a range that says nothing. */
export function isInfinite(variable: Variable): boolean {
  return variable.ranges.some((r) => [r.low, r.high].some((v) => Math.abs(numberOf(v)) === Infinity));
}

/** The range of those values that are finite; null: there are none. */
export function finiteRange(values: Float32Array): [number, number] | null {
  let [low, high] = [Infinity, -Infinity];
  for (const v of values) {
    if (!Number.isFinite(v)) continue;
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return low <= high ? [low, high] : null;
}

/** How much larger few particles are drawn than many, so that they are seen. */
export function pointScale(count: number): number {
  return Math.min(Math.max(Math.cbrt(30000 / Math.max(count, 1)), 1), 4);
}

/** The space around all that is shown. */
export function frameOf(look: GridLook | null, set: Particles | null): Frame {
  const low: Vector = [Infinity, Infinity, Infinity];
  const high: Vector = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < 3; i++) {
    if (look) {
      const ends = [-0.5, look.shape[i] - 0.5].map((at) => look.origin[i] + at * look.spacing[i]);
      [low[i], high[i]] = [Math.min(...ends), Math.max(...ends)];
    }
    if (set && set.count > 0) {
      low[i] = Math.min(low[i], set.low[i] ?? 0);
      high[i] = Math.max(high[i], set.high[i] ?? 0);
    }
    if (low[i] > high[i]) [low[i], high[i]] = [0, 1];
  }
  return { low, high };
}

/** The box of a view, in coordinates. */
export function boxIn(frame: Frame, view: View): Frame {
  const at = (i: number, part: number) => frame.low[i] + part * (frame.high[i] - frame.low[i]);
  const box = view.box ?? [0, 1, 0, 1, 0, 1];
  return { low: [0, 1, 2].map((i) => at(i, box[2 * i])) as Vector, high: [0, 1, 2].map((i) => at(i, box[2 * i + 1])) as Vector };
}

/** A place in coordinates as a position in samples, whose middles are at + 0.5. */
export function toSamples(look: GridLook, place: Vector): Vector {
  return place.map((p, i) => Math.min(Math.max((p - look.origin[i]) / look.spacing[i] + 0.5, 0), look.shape[i])) as Vector;
}

/** The box of a view, in samples. */
export function samplesIn(look: GridLook, frame: Frame, view: View): Frame {
  const box = boxIn(frame, view);
  const [a, b] = [toSamples(look, box.low), toSamples(look, box.high)];
  return { low: a.map((v, i) => Math.min(v, b[i])) as Vector, high: a.map((v, i) => Math.max(v, b[i])) as Vector };
}

/** The slices that are shown: those of the view, or through the middle. */
export function slicesOf(look: GridLook, view: View): Partial<Record<Axis, number>> {
  const out: Partial<Record<Axis, number>> = {};
  const given = axes.filter((axis) => view.slices[axis] !== undefined);
  const shown = given.length ? given : look.dims < 3 ? ["z" as Axis] : axes;
  for (const axis of shown) {
    const n = look.shape[axes.indexOf(axis)];
    out[axis] = Math.min(view.slices[axis] ?? Math.floor(n / 2), n - 1);
  }
  return out;
}
