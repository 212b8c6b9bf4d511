// node.d.ts -- the types of node.js.
import type {Dataset, Files, Source} from "./bouma.js";

export declare class FileSource implements Source {
    constructor(path: string);
    name: string;
    list(name: string): string[] | null;
    size(name: string): number | null;
    read(name: string, offset: number, to: Uint8Array): number;
}

export declare function listingOf(path: string): Files;
export declare function compile(): WebAssembly.Module;
export declare function openDirectory(path: string): Dataset;
