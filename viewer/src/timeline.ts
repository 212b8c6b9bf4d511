// timeline.ts -- the steps of a run, and which one comes next.

export interface Timeline {
  steps: readonly number[]; // ascending
  times: readonly number[];
}

export const noSteps: Timeline = { steps: [], times: [] };

function spliced(list: readonly number[], at: number, gone: number, ...added: number[]): number[] {
  return [...list.slice(0, at), ...added, ...list.slice(at + gone)];
}

/** With a step that was committed or rewritten. */
export function withStep(line: Timeline, step: number, time: number): Timeline {
  const at = line.steps.findIndex((s) => s >= step);
  const i = at < 0 ? line.steps.length : at;
  const gone = line.steps[i] === step ? 1 : 0;
  return { steps: spliced(line.steps, i, gone, step), times: spliced(line.times, i, gone, time) };
}

export function withoutStep(line: Timeline, step: number): Timeline {
  const i = line.steps.indexOf(step);
  return i < 0 ? line : { steps: spliced(line.steps, i, 1), times: spliced(line.times, i, 1) };
}

/** The place of a step, or of the last one before it; null is the last of all. */
export function indexOf(line: Timeline, step: number | null): number {
  if (step === null) return line.steps.length - 1;
  let found = 0;
  line.steps.forEach((s, i) => s <= step && (found = i));
  return found;
}

/** So many steps on; around the end when playing. */
export function moved(line: Timeline, step: number | null, by: number, around: boolean): number | null {
  const n = line.steps.length;
  if (n === 0) return step;
  const i = indexOf(line, step) + by;
  return line.steps[around ? ((i % n) + n) % n : Math.min(Math.max(i, 0), n - 1)];
}

/** The step whose time is nearest. */
export function stepAt(line: Timeline, time: number): number | null {
  let best: number | null = null;
  let least = Infinity;
  line.times.forEach((t, i) => {
    if (Math.abs(t - time) < least) [best, least] = [line.steps[i], Math.abs(t - time)];
  });
  return best;
}
