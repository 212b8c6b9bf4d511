// node.js -- datasets in directories, for Node.
//
//     import {openDirectory} from "./node.js";
//     const run = openDirectory("run.bouma");
//
//     node node.js run.bouma > run.bouma/listing.json        (for HttpSource)
import {closeSync, fstatSync, lstatSync, openSync, readdirSync, readFileSync, readSync, statSync} from "node:fs";
import {dirname, join} from "node:path";
import {argv} from "node:process";
import {fileURLToPath, pathToFileURL} from "node:url";
import {Dataset} from "./bouma.js";

/** A directory on disk. */
export class FileSource {
    constructor(path) {
        this.name = path;
    }

    list(name) {
        return this.#found(name)?.isDirectory() ? readdirSync(join(this.name, name)) : null;
    }

    size(name) {
        const found = this.#found(name);
        return found?.isFile() ? found.size : null;
    }

    // What has a name, if no symbolic link below the root leads there.
    #found(name) {
        const parts = name.split("/");
        const links = parts.some((_, n) => name && lstatSync(join(this.name, ...parts.slice(0, n + 1)),
                                                            {throwIfNoEntry: false})?.isSymbolicLink());
        return links ? null : statSync(join(this.name, name), {throwIfNoEntry: false});
    }

    read(name, offset, to) {
        const file = openSync(join(this.name, name), "r");
        try {
            return readSync(file, to, 0, Math.min(to.length, Math.max(0, fstatSync(file).size - offset)), offset);
        } finally {
            closeSync(file);
        }
    }
}

/** What a web server cannot tell: the files of a dataset and their sizes. */
export function listingOf(path) {
    const files = {};
    const visit = name => {
        for (const entry of readdirSync(join(path, name), {withFileTypes: true})) {
            const inside = name ? `${name}/${entry.name}` : entry.name;
            if (entry.isDirectory())
                visit(inside);
            else if (entry.isFile() && inside !== "listing.json")
                files[inside] = statSync(join(path, inside)).size;
        }
    };
    visit("");
    return {files};
}

let compiled = null;

/** The module that lies beside this file. */
export function compile() {
    compiled ??= new WebAssembly.Module(readFileSync(join(dirname(fileURLToPath(import.meta.url)), "bouma.wasm")));
    return compiled;
}

export function openDirectory(path) {
    return Dataset.open(compile(), new FileSource(path));
}

if (argv[1] && import.meta.url === pathToFileURL(argv[1]).href)
    console.log(JSON.stringify(listingOf(argv[2])));
