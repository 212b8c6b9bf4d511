// bouma.d.ts -- the types of bouma.js.

export type TypeName = "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" | "f32" | "f64";
export type Values =
    | Int8Array | Int16Array | Int32Array | BigInt64Array | Uint8Array | Uint16Array | Uint32Array | BigUint64Array
    | Float32Array | Float64Array;
/** An integer; beyond 2^53 a bigint. */
export type Integer = number | bigint;

export declare class BoumaError extends Error {
    constructor(status: string, message: string);
    status: string;
    cause?: unknown;
}

export declare function parseAnswer(text: string): any;

/** Files: what the module reads from. All calls are synchronous. */
export interface Source {
    name?: string;
    list(name: string): string[] | null;
    size(name: string): number | null;
    read(name: string, offset: number, to: Uint8Array): number;
}

export interface StepEntry {
    step: Integer;
    time: number | null;
}

export interface Range {
    min?: Integer | null;
    max?: Integer | null;
    nans: Integer;
}

export interface Variable {
    name: string;
    type: TypeName;
    components: number;
    codec: string;
    unit: string;
    present: boolean;
    raw_bytes: Integer;
    stored_bytes: Integer;
    bound: number;
    max_error: number | null;
    coarse_levels: "averages" | "samples";
    level_bytes: Integer[];
    ranges?: Range[];
}

export interface Grid {
    kind: "grid";
    name: string;
    layout: string;
    levels: number;
    shape: Integer[];
    patch: Integer[];
    origin: number[];
    spacing: number[];
    unit: string;
    variables: Variable[];
}

export interface Particles {
    kind: "particles";
    name: string;
    levels: number;
    count: Integer;
    strays: Integer;
    low: (number | null)[];
    high: (number | null)[];
    unit: string;
    /** The position is the first. */
    attributes: Variable[];
}

export interface StepDescription extends StepEntry {
    objects: (Grid | Particles)[];
}

export interface ReadOptions {
    level?: number;
    /** [lo, hi] along each axis, the slowest first, in samples of level 0. */
    box?: [Integer, Integer][] | null;
    type?: TypeName | null;
}

export interface Samples {
    data: Values;
    type: TypeName;
    components: number;
    shape: Integer[];
    first: Integer[];
    step: Integer[];
    origin: number[];
    spacing: number[];
}

export interface Condition {
    variable: string;
    component?: number;
    low?: Integer | null;
    high?: Integer | null;
}

export interface QueryOptions {
    /** [low, high] along each axis, x first, in coordinates. */
    box?: [number, number][] | null;
    /** Axes on which high is included. */
    closed?: number[];
    where?: Condition[];
    from?: number;
    quality?: number;
    variables?: string[] | null;
}

export interface Column {
    name: string;
    type: TypeName;
    components: number;
    data: Values;
}

export interface Found {
    count: Integer;
    columns: Column[];
}

export declare class Dataset {
    static open(module: WebAssembly.Module, source: Source): Dataset;
    constructor(module: WebAssembly.Module, source: Source);
    readonly steps: StepEntry[];
    readonly formatVersion: string;
    readonly traffic: {bytes_read: Integer; files_opened: Integer};
    openStep(number: Integer): Step;
    close(): void;
}

export declare class Step {
    private constructor();
    readonly step: Integer;
    readonly time: number | null;
    readonly objects: (Grid | Particles)[];
    read(grid: string, variable: string, options?: ReadOptions): Samples;
    particles(name: string, options?: QueryOptions): Found;
    free(): void;
}

export interface Answer {
    code: number;
    headers: Record<string, string>;
    body: ArrayBuffer;
}

export declare class Answers {
    constructor(module: WebAssembly.Module, source: Source, name: string);
    get(target: string): Answer;
    readonly isBroken: boolean;
}

export interface Files {
    files: Record<string, number>;
}

export declare class Listing {
    constructor(listing: Files);
    list(name: string): string[] | null;
    size(name: string): number | null;
}

export declare class SourceError extends BoumaError {
    constructor(message: string, retry?: boolean);
    retry: boolean;
}

export declare function rangeProblem(url: string, answer: {status: number; total: number}, from: number, end: number, size: number): SourceError | null;
export declare function notReached(url: string, page: string | undefined): SourceError;
export declare function totalOf(header: string | null): number;

export interface HttpOptions {
    blockBytes?: number;
    cacheBytes?: number;
    needsRanges?: boolean;
}

export type Block = [key: string, bytes: Uint8Array];

export declare class HttpSource implements Source {
    constructor(url: string, listing: Files, options?: HttpOptions);
    name: string;
    requests: number;
    bytes: number;
    list(name: string): string[] | null;
    size(name: string): number | null;
    read(name: string, offset: number, to: Uint8Array): number;
    take(): Block[];
    give(blocks: Block[]): void;
}
