// remote.d.ts -- the types of remote.js.
import type {Found, HttpOptions, Integer, QueryOptions, ReadOptions, Samples, StepDescription, StepEntry} from "./bouma.js";

export declare class RemoteDataset {
    static open(url: string, options?: {wasm?: string | URL; workers?: number; source?: HttpOptions}): Promise<RemoteDataset>;
    private constructor();
    readonly steps: StepEntry[];
    readonly formatVersion: string;
    describe(step: Integer): Promise<StepDescription>;
    read(step: Integer, grid: string, variable: string, options?: ReadOptions): Promise<Samples>;
    particles(step: Integer, name: string, options?: QueryOptions): Promise<Found>;
    close(): void;
}
