// source.ts -- where data come from: what the viewer asks, whoever answers it.

/** JSON cannot have all numbers: some are told as texts. */
export function numberOf(value: number | string | null): number {
  return value === null ? NaN : value === "inf" ? Infinity : value === "-inf" ? -Infinity : Number(value);
}

export interface Range {
  low: number | string | null; // a text: beyond what JSON can have, such as "inf"
  high: number | string | null;
  nans: number;
}
export interface Variable {
  name: string;
  present?: boolean;
  type: string;
  components: number;
  unit?: string;
  ranges: Range[];
  bound: number;
  largest_error: number | null;
  averages: boolean;
  stored_bytes: number;
  level_bytes: number[];
}
export interface Grid {
  name: string;
  kind: "grid";
  shape: number[];
  patch: number[];
  levels: number;
  origin: number[];
  spacing: number[];
  unit?: string;
  variables: Variable[];
}
export interface Particles {
  name: string;
  kind: "particles";
  count: number;
  dims: number;
  low: number[];
  high: number[];
  unit?: string;
  variables: Variable[];
}
export interface Step {
  step: number;
  time: number;
  tag: string;
  objects: (Grid | Particles)[];
}
export interface Run {
  name: string;
  steps: number[];
  times: number[];
}
/** Which variable of which step; the tag tells its contents. */
export interface Which {
  run: string;
  step: number;
  tag: string;
  object: string;
}
export interface SamplesRequest extends Which {
  variable: string;
  component: number;
  level: number;
  box: [number, number][]; // in the order of the shape
  low: number;
  high: number;
}
export interface Samples {
  shape: number[];
  data: Uint8Array; // 1 to 255; 0: no value
  error: number | null; // the largest one, if it is known
}
/** As they are, as f32. */
export interface FloatsRequest extends Which {
  variable: string;
  component: number;
  level: number;
  box: [number, number][];
}
/** The lowest and highest value of each patch; NaN twice: it has none. */
export interface PatchRanges {
  shape: number[]; // patches, in the order of the grid's shape
  pairs: Float32Array;
}
export interface ParticlesRequest extends Which {
  from: number;
  quality: number;
  variables: string[];
  origin: number[];
  box: [number, number][] | null; // x, y, z
  where: string;
}
export interface Columns {
  count: number;
  columns: Map<string, { components: number; data: Float32Array }>;
}
export interface Histogram {
  edges: number[];
  estimate: number[];
}
export interface Series {
  times: number[];
  values: (number | null)[];
}
export interface Listener {
  steps(steps: number[], times: number[]): void;
  step(step: number, time: number): void;
  removed(step: number): void;
}

export interface Source {
  runs(): Promise<string[]>;
  run(name: string): Promise<Run>;
  step(run: string, step: number | "last"): Promise<Step>;
  /** Rejects when the signal is given: nobody waits for it any more. */
  samples(request: SamplesRequest, signal?: AbortSignal): Promise<Samples>;
  /** What follows is asked only of sources that have it. */
  floats?(request: FloatsRequest): Promise<Float32Array>;
  /** null: this grid has none. */
  ranges?(which: Which, variable: string, component: number): Promise<PatchRanges | null>;
  /** One exact value. */
  value(which: Which, variable: string, component: number, at: number[]): Promise<number>;
  particles(request: ParticlesRequest): Promise<Columns>;
  /** null: the source has none. */
  histogram(which: Which, variable: string, component: number, bins: number, where: string): Promise<Histogram | null>;
  /** Of each step, or of every n-th. */
  series(run: string, object: string, variable: string, component: number, at: number[], every: number): Promise<Series>;
  /** Tell of new steps until the function that is given back is called. */
  follow(run: string, listener: Listener): () => void;
  /** Bytes that were sent for data so far. */
  bytes(): number;
}
