// bouma.js -- read bouma datasets in browsers and in Node.
//
//     import {Dataset, HttpSource} from "./bouma.js";        // in a worker
//     const module = await WebAssembly.compileStreaming(fetch("bouma.wasm"));
//     const listing = await (await fetch("run.bouma/listing.json")).json();
//     const run = Dataset.open(module, new HttpSource("run.bouma/", listing));
//     const step = run.openStep(run.steps.at(-1).step);
//     const {data, shape} = step.read("plate", "heat", {level: 2});
//
// All calls return when they are done: the C inside reads as from a disk. A
// source of files on a web server therefore works in workers only, where
// requests may be waited for; remote.js calls a worker from a page. Failures
// are thrown as BoumaError.

const ARRAYS = {
    i8: Int8Array, i16: Int16Array, i32: Int32Array, i64: BigInt64Array,
    u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, u64: BigUint64Array,
    f32: Float32Array, f64: Float64Array,
};
const TYPE_NUMBERS = {i8: 1, i16: 2, i32: 3, i64: 4, u8: 5, u16: 6, u32: 7, u64: 8, f32: 9, f64: 10};

// What io_javascript.c takes for failures.
const NO_ENTRY = -1, FAILED = -2;

/** What failed: `status` is the name of a bouma_status, such as "EFORMAT". */
export class BoumaError extends Error {
    constructor(status, message) {
        super(message);
        this.name = "BoumaError";
        this.status = status;
    }
}

// The keys of answers that are texts; other strings are integers beyond 2^53.
const TEXTS = new Set(["name", "kind", "layout", "unit", "type", "codec", "coarse_levels", "format_version"]);

/** An answer of the module; integers that are not exact as numbers become BigInt. */
export function parseAnswer(text) {
    return JSON.parse(text, (key, value) => typeof value === "string" && !TEXTS.has(key) ? BigInt(value) : value);
}

// ---- what the module imports -------------------------------------------------

// A source has list(name) -> names, size(name) -> bytes (both null if there is
// no such directory or file) and read(name, offset, array) -> bytes read.
// Whatever it throws is kept: it is the reason of the failure that follows.
class Files {
    constructor(source) {
        this.source = source;
        this.thrown = null;
    }

    guard(call) {
        try {
            return call();
        } catch (error) {
            this.thrown = error;
            return FAILED;
        }
    }

    imports(instance) {
        const bytes = (at, length) => new Uint8Array(instance.memory.buffer, at, length);
        const text = (at, length) => new TextDecoder().decode(bytes(at, length));
        return {
            list: (name, length, to, room) => this.guard(() => {
                const entries = this.source.list(text(name, length));
                if (entries === null)
                    return NO_ENTRY;
                const joined = new TextEncoder().encode(entries.map(entry => entry + "\0").join(""));
                if (joined.length <= room)
                    bytes(to, room).set(joined);
                return joined.length;
            }),
            size: (name, length) => this.guard(() => this.source.size(text(name, length)) ?? NO_ENTRY),
            read: (name, length, to, count, offset) =>
                this.guard(() => this.source.read(text(name, length), offset, bytes(to, count))),
        };
    }
}

// What C's library asks of a system: a clock, and no files, no environment.
function system(instance) {
    const memory = () => new DataView(instance.memory.buffer);
    const BAD_FILE = () => 8;
    return {
        environ_get: () => 0,
        environ_sizes_get: (count, bytes) => {
            memory().setUint32(count, 0, true);
            memory().setUint32(bytes, 0, true);
            return 0;
        },
        clock_time_get: (id, precision, to) => {
            const now = id === 0 ? Date.now() : performance.now();
            memory().setBigUint64(to, BigInt(Math.round(now * 1e6)), true);
            return 0;
        },
        fd_close: BAD_FILE, fd_fdstat_get: BAD_FILE, fd_prestat_get: BAD_FILE, fd_prestat_dir_name: BAD_FILE,
        fd_read: BAD_FILE, fd_seek: BAD_FILE, fd_write: BAD_FILE, path_filestat_get: BAD_FILE, path_open: BAD_FILE,
        proc_exit: code => {
            throw new Error(`the module has ended: ${code}`);
        },
    };
}

// ---- an instance of the module ------------------------------------------------

class Instance {
    #c; #files; #broken = null;

    constructor(module, source) {
        const instance = {};
        this.#files = new Files(source);
        this.#c = new WebAssembly.Instance(module, {
            bouma: this.#files.imports(instance),
            wasi_snapshot_preview1: system(instance),
        }).exports;
        instance.memory = this.#c.memory;
    }

    // What the source has thrown during the last call; null: nothing.
    get thrown() {
        return this.#files.thrown;
    }

    get isBroken() {
        return this.#broken !== null;
    }

    // A trap leaves the memory of the module as it was in the middle of a call:
    // nothing can be read with it any more.
    call(name, ...args) {
        if (this.#broken)
            throw this.#broken;
        this.#files.thrown = null;
        try {
            return this.#c[name](...args);
        } catch (error) {
            this.#broken = new BoumaError("EFORMAT", `the reader has failed, and must be opened again: ${error.message}`);
            this.#broken.cause = error;
            throw this.#broken;
        }
    }

    // A call that cannot fail and reads nothing.
    ask(name, ...args) {
        return this.#c[name](...args);
    }

    text(at) {
        const memory = new Uint8Array(this.#c.memory.buffer);
        return new TextDecoder().decode(memory.subarray(at, memory.indexOf(0, at)));
    }

    copy(at, bytes) {
        return this.#c.memory.buffer.slice(at, at + bytes);
    }

    // Call 'body' with the addresses of copies of these texts and arrays.
    within(values, body) {
        const addresses = [];
        try {
            for (const value of values) {
                const bytes = typeof value === "string" ? new TextEncoder().encode(value + "\0")
                    : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
                const at = this.#c.malloc(bytes.length || 1);
                if (!at)
                    throw new BoumaError("ENOMEM", "no memory for arguments");
                addresses.push(at);
                new Uint8Array(this.#c.memory.buffer).set(bytes, at);
            }
            return body(...addresses);
        } finally {
            if (!this.#broken)
                addresses.forEach(at => this.#c.free(at));
        }
    }
}

// ---- datasets ---------------------------------------------------------------

export class Dataset {
    #in; #handle; #about;

    /** Open the dataset of a source by a module that was compiled from bouma.wasm. */
    static open(module, source) {
        return new Dataset(module, source);
    }

    constructor(module, source) {
        this.#in = new Instance(module, source);
        this.#handle = this.#in.within([source.name ?? "dataset"], name => this.#in.call("bw_open", name));
        try {
            this.#check();
            this.#about = this.#json("bw_describe", this.#handle);
        } catch (error) {
            this.close();
            throw error;
        }
    }

    /** The committed steps: [{step, time}], by ascending number. */
    get steps() {
        return this.#about.steps;
    }

    get formatVersion() {
        return this.#about.format_version;
    }

    /** What was read so far: {bytes_read, files_opened}. */
    get traffic() {
        return this.#json("bw_traffic", this.#handle);
    }

    openStep(number) {
        const step = this.#call("bw_step_open", this.#handle, BigInt(number));
        this.#check();
        return new Step(this.#inside(), step);
    }

    close() {
        if (this.#handle && !this.#in.isBroken)
            this.#in.ask("bw_close", this.#handle);
        this.#handle = 0;
    }

    // What steps use of it.
    #inside() {
        return {
            handle: () => this.#handle,
            call: (name, ...args) => this.#call(name, ...args),
            json: (name, ...args) => this.#json(name, ...args),
            check: () => this.#check(),
            within: (values, body) => this.#in.within(values, body),
            copy: (type, at, bytes) => new ARRAYS[type](this.#in.copy(at, bytes)),
        };
    }

    #call(name, ...args) {
        if (!this.#handle && !this.#in.isBroken)
            throw new BoumaError("ESTATE", "the dataset is closed");
        return this.#in.call(name, ...args);
    }

    #check() {
        if (this.#in.ask("bw_status", this.#handle) === 0)
            return;
        const error = new BoumaError(this.#in.text(this.#in.ask("bw_status_name", this.#handle)),
                                     this.#in.text(this.#in.ask("bw_message", this.#handle)));
        if (this.#in.thrown)
            error.cause = this.#in.thrown;
        throw error;
    }

    #json(name, ...args) {
        const answer = this.#call(name, ...args);
        this.#check();
        return parseAnswer(this.#in.text(answer));
    }
}

// ---- what a server would answer --------------------------------------------------

/** What `bouma serve` answers for the dataset of a source, whose name in URLs
 * is 'name': docs/http.md. */
export class Answers {
    #in; #handle;

    constructor(module, source, name) {
        this.#in = new Instance(module, source);
        this.#handle = this.#in.within([name], text => this.#in.call("bw_answers_new", text));
        if (!this.#handle)
            throw new BoumaError("ENOMEM", "no memory for a dataset");
    }

    /** {code, headers, body} of "/api/v1/NAME/..."; the body is an ArrayBuffer.
     * Throws what the source has thrown if that is why there is no answer. */
    get(target) {
        const code = this.#in.within([target], text => this.#in.call("bw_answers_get", this.#handle, text));
        if (code >= 400 && this.#in.thrown)
            throw this.#in.thrown;
        const headers = JSON.parse(this.#in.text(this.#in.ask("bw_answers_headers", this.#handle)));
        const bytes = this.#in.ask("bw_answers_bytes", this.#handle);
        return {code, headers, body: this.#in.copy(this.#in.ask("bw_answers_body", this.#handle), bytes)};
    }

    get isBroken() {
        return this.#in.isBroken;
    }
}

// A limit of a condition, as bw_query_limit() takes it.
function limit(value) {
    if (value === undefined || value === null)
        return [0, 0n, 0];
    if (typeof value === "bigint")
        return [value < 0n ? TYPE_NUMBERS.i64 : TYPE_NUMBERS.u64, BigInt.asIntN(64, value), 0];
    return [TYPE_NUMBERS.f64, 0n, value];
}

export class Step {
    #of; #handle; #about;

    constructor(of, handle) {
        this.#of = of;
        this.#handle = handle;
        this.#about = of.json("bw_step_describe", of.handle(), handle);
    }

    get step() {
        return this.#about.step;
    }

    get time() {
        return this.#about.time;
    }

    /** Grids and sets of particles, as `bouma info --json` has them. */
    get objects() {
        return this.#about.objects;
    }

    /** Read a box ([[lo, hi], ...], slowest axis first; null: all) of a grid at
     * a level, as values of a type (null: that of the variable):
     * {data, type, components, shape, first, step, origin, spacing}. */
    read(grid, variable, {level = 0, box = null, type = null} = {}) {
        const of = this.#of;
        const number = this.#typeNumber(type);
        const values = [grid, variable];
        if (box)
            values.push(BigInt64Array.from([...box.map(side => BigInt(side[0])), ...box.map(side => BigInt(side[1]))]));
        this.#sides(grid, box);
        return of.within(values, (g, v, b = 0) => {
            const {bytes, ...about} = of.json("bw_read", of.handle(), this.#open(), g, v, level, b, number);
            return {data: of.copy(about.type, of.call("bw_data", of.handle()), bytes), ...about};
        });
    }

    /** Read particles: those in a box ([[low, high], ...] in coordinates, x
     * first; `closed` has the axes on which high is included), for which all
     * conditions hold ([{variable, component, low, high}]), above the fraction
     * `from` up to `quality`, with these variables (null: all). {count,
     * columns: [{name, type, components, data}]}. */
    particles(name, {box = null, closed = [], where = [], from = 0, quality = 1, variables = null} = {}) {
        const of = this.#of;
        this.#sides(name, box);
        const query = of.within([name], n => of.call("bw_query_new", of.handle(), this.#open(), n));
        of.check();
        try {
            if (box)
                this.#add([Float64Array.from([...box.map(side => side[0]), ...box.map(side => side[1])])],
                          b => of.call("bw_query_box", query, b, closed.reduce((bits, axis) => bits | 1 << axis, 0)));
            for (const {variable, component = 0, low, high} of where) {
                this.#add([variable], v => of.call("bw_query_where", query, v, component));
                this.#add([], () => of.call("bw_query_limit", query, 0, ...limit(low)));
                this.#add([], () => of.call("bw_query_limit", query, 1, ...limit(high)));
            }
            for (const variable of variables ?? [])
                this.#add([variable], v => of.call("bw_query_variable", query, v));
            const {count, columns} = of.json("bw_query_run", query, from, quality);
            return {count, columns: columns.map(({bytes, ...about}, i) =>
                ({...about, data: of.copy(about.type, of.call("bw_column", of.handle(), i), bytes)}))};
        } finally {
            of.call("bw_query_free", query);
        }
    }

    free() {
        if (this.#handle)
            this.#of.call("bw_step_free", this.#handle);
        this.#handle = 0;
    }

    #open() {
        if (!this.#handle)
            throw new BoumaError("ESTATE", "the step is freed");
        return this.#handle;
    }

    #add(values, body) {
        this.#of.within(values, body);
        this.#of.check();
    }

    #typeNumber(type) {
        if (type !== null && !(type in TYPE_NUMBERS))
            throw new BoumaError("EINVAL", `there is no type ${type}; the types are ${Object.keys(ARRAYS).join(", ")}`);
        return type === null ? 0 : TYPE_NUMBERS[type];
    }

    // C reads as many numbers of a box as the object has axes.
    #sides(name, box) {
        const object = this.objects.find(each => each.name === name);
        const axes = object && (object.shape ?? object.low).length;
        if (box && object && (box.length !== axes || box.some(side => side.length !== 2)))
            throw new BoumaError("EINVAL", `a box of ${name} is ${axes} pairs [low, high]`);
    }
}

// ---- files on a web server ------------------------------------------------------

/** The files of a listing: {"files": {"steps/00000000/manifest": bytes, ...}}. */
export class Listing {
    #sizes; #directories = new Map([["", new Set()]]);

    constructor({files}) {
        this.#sizes = new Map(Object.entries(files));
        for (const name of this.#sizes.keys()) {
            const parts = name.split("/");
            for (let n = 0; n < parts.length; n++) {
                const directory = parts.slice(0, n).join("/");
                if (!this.#directories.has(directory))
                    this.#directories.set(directory, new Set());
                this.#directories.get(directory).add(parts[n]);
            }
        }
    }

    list(name) {
        const entries = this.#directories.get(name);
        return entries ? [...entries] : null;
    }

    size(name) {
        return this.#sizes.get(name) ?? null;
    }
}

/** Why a file on a web server cannot be read. `retry` is true if the server was
 * not reached, or is busy: it may answer later. */
export class SourceError extends BoumaError {
    constructor(message, retry = false) {
        super("EIO", message);
        this.retry = retry;
    }
}

const NO_RANGES = "the web server sends whole files, as it does not know Range requests, which are needed here. " +
    "Servers that know them: bouma serve, nginx, Caddy, npx http-server, S3, GitHub Pages";

/** What is wrong with an answer to a request for bytes from 'from' to 'end' of
 * a file of 'size' bytes; null: nothing. 'total' is what the server says of the
 * size, if it does (NaN: no). */
export function rangeProblem(url, {status, total}, from, end, size) {
    if (status === 200 && (from > 0 || end < size))
        return new SourceError(`${url}: ${NO_RANGES}.`);
    if (status === 404 || status === 403 || status === 410)
        return new SourceError(`${url}: the web server answers ${status}: the file is not there, or not for everyone. ` +
                               "Copy the whole folder again.");
    if (status === 416 || total < size)
        return new SourceError(`${url}: the file is shorter than its listing says: the dataset has changed since. ` +
                               "Load the page again, or write its listing anew.");
    if (status !== 200 && status !== 206)
        return new SourceError(`${url}: the web server answers ${status}`, status === 429 || status >= 500);
    return null;
}

/** A request that was not answered: browsers do not say why. */
export function notReached(url, page) {
    const elsewhere = page && new URL(url, page).origin !== new URL(page).origin;
    return new SourceError(`${url}: the web server is not reached` + (elsewhere
        ? `, or does not let pages of ${new URL(page).origin} read it (CORS: Access-Control-Allow-Origin).` : "."), true);
}

/** The size of a file that "Content-Range: bytes 0-9/1234" tells; NaN: none. */
export function totalOf(header) {
    return Number(/\/(\d+)$/.exec(header ?? "")?.[1] ?? NaN);
}

/** A dataset below a URL that ends in "/", on any server that knows Range
 * requests. In workers only. Bytes are fetched in blocks, and the latest blocks
 * are kept. `requests` and `bytes` tell how much was fetched. */
export class HttpSource {
    #url; #listing; #blockBytes; #most; #needsRanges; #blocks = new Map(); #fresh = [];

    /** With `needsRanges`, whole files in place of ranges are refused. */
    constructor(url, listing, {blockBytes = 1 << 18, cacheBytes = 1 << 26, needsRanges = false} = {}) {
        this.name = url;
        this.#url = url;
        this.#listing = new Listing(listing);
        this.#blockBytes = blockBytes;
        this.#most = Math.max(1, Math.floor(cacheBytes / blockBytes));
        this.#needsRanges = needsRanges;
        this.requests = 0;
        this.bytes = 0;
    }

    list(name) {
        return this.#listing.list(name);
    }

    size(name) {
        return this.#listing.size(name);
    }

    /** The blocks that were fetched since the last call, [[key, bytes]]: for
     * give() of another source of the same dataset. */
    take() {
        return this.#fresh.splice(0).filter(([key]) => this.#blocks.has(key));
    }

    give(blocks) {
        blocks.forEach(([key, bytes]) => this.#put(key, bytes));
    }

    read(name, offset, to) {
        const end = Math.min(offset + to.length, this.size(name) ?? 0);
        const size = this.#blockBytes;
        for (let at = offset; at < end;) {
            const first = Math.floor(at / size);
            let block = this.#kept(name, first);
            let from = first * size;
            if (!block) {
                // All that is missing from here on, in one request.
                let last = first;
                while ((last + 1) * size < end && !this.#blocks.has(`${name}:${last + 1}`))
                    last++;
                block = this.#fetch(name, from, Math.min((last + 1) * size, this.size(name)));
                this.#keep(name, first, block);
            }
            const part = block.subarray(at - from, Math.min(block.length, end - from));
            to.set(part, at - offset);
            at += part.length;
        }
        return Math.max(0, end - offset);
    }

    #kept(name, number) {
        const key = `${name}:${number}`, block = this.#blocks.get(key);
        if (block) { // the latest is the last
            this.#blocks.delete(key);
            this.#blocks.set(key, block);
        }
        return block;
    }

    #put(key, bytes) {
        this.#blocks.set(key, bytes);
        if (this.#blocks.size > this.#most)
            this.#blocks.delete(this.#blocks.keys().next().value);
    }

    #keep(name, first, bytes) {
        for (let at = 0, number = first; at < bytes.length; at += this.#blockBytes, number++) {
            const block = bytes.slice(at, at + this.#blockBytes);
            this.#put(`${name}:${number}`, block);
            this.#fresh.push([`${name}:${number}`, block]);
        }
        this.#fresh.splice(0, this.#fresh.length - this.#most);
    }

    // The size is a part of the URL, so that caches do not mix a file with what
    // it was before.
    #fetch(name, from, end) {
        const request = new XMLHttpRequest();
        const size = this.size(name);
        const url = this.#url + name.split("/").map(encodeURIComponent).join("/");
        request.open("GET", `${url}?${size}`, false);
        request.responseType = "arraybuffer";
        request.setRequestHeader("Range", `bytes=${from}-${end - 1}`);
        try {
            request.send();
        } catch {
            throw notReached(url, globalThis.location?.href);
        }
        let bytes = new Uint8Array(request.response ?? 0);
        this.requests++;
        this.bytes += bytes.length;
        if (request.status === 200 && !this.#needsRanges) // a server without ranges sends all
            bytes = bytes.subarray(from, end);
        else {
            const problem = rangeProblem(url, {status: request.status, total: totalOf(request.getResponseHeader("Content-Range"))}, from, end, size);
            if (problem)
                throw problem;
        }
        if (bytes.length !== end - from)
            throw new SourceError(`${url}: ${bytes.length} bytes instead of ${end - from}; the listing may be old`);
        return bytes;
    }
}
