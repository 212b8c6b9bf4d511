// remote.js -- read a dataset on a web server from a page: workers fetch and
// decode, and each call is a promise.
//
//     import {RemoteDataset} from "./remote.js";
//     const run = await RemoteDataset.open("data/run.bouma/", {workers: 4});
//     const {data, shape} = await run.read(run.steps[0].step, "plate", "heat", {level: 2});
//
// The server sends bouma.wasm, these files, and the dataset with its
// listing.json; it needs to know nothing else but Range requests.
import {BoumaError} from "./bouma.js";

// A worker, and what it has been asked and has not answered.
class Helper {
    #worker; #waiting = new Map(); #next = 0; #failed = null;

    constructor() {
        this.#worker = new Worker(new URL("worker.js", import.meta.url), {type: "module"});
        this.#worker.onmessage = ({data: {id, result, error}}) => {
            const {resolve, reject} = this.#waiting.get(id);
            this.#waiting.delete(id);
            if (error)
                reject(new BoumaError(error.status ?? "EIO", error.message));
            else
                resolve(result);
        };
        this.#worker.onerror = event => this.end(event.message || "a worker cannot be started");
    }

    get load() {
        return this.#waiting.size;
    }

    ask(call, args) {
        if (this.#failed)
            return Promise.reject(this.#failed);
        return new Promise((resolve, reject) => {
            const id = this.#next++;
            this.#worker.postMessage({id, call, args});
            this.#waiting.set(id, {resolve, reject});
        });
    }

    end(why) {
        this.#worker.terminate();
        this.#failed ??= new BoumaError("ESTATE", why);
        this.#waiting.forEach(({reject}) => reject(this.#failed));
        this.#waiting.clear();
    }
}

async function get(url) {
    const response = await fetch(url);
    if (!response.ok)
        throw new BoumaError(response.status === 404 ? "ENOTFOUND" : "EIO", `${url}: the server answers ${response.status}`);
    return response;
}

export class RemoteDataset {
    #helpers; #about;

    /** Open the dataset below a URL that ends in "/"; `wasm` is the URL of bouma.wasm, `workers` how many decode,
     * `source` what HttpSource takes for options. */
    static async open(url, {wasm = new URL("bouma.wasm", import.meta.url), workers = 2, source = {}} = {}) {
        const base = new URL(url, globalThis.location?.href).href;
        const [module, listing] = await Promise.all([
            get(wasm).then(response => response.arrayBuffer()).then(bytes => WebAssembly.compile(bytes)),
            get(new URL("listing.json", base)).then(response => response.json()),
        ]);
        const helpers = Array.from({length: workers}, () => new Helper());
        try {
            const [about] = await Promise.all(helpers.map(helper =>
                helper.ask("open", {module, url: base, listing, options: source})));
            return new RemoteDataset(helpers, about);
        } catch (error) {
            helpers.forEach(helper => helper.end("the dataset cannot be opened"));
            throw error;
        }
    }

    constructor(helpers, about) {
        this.#helpers = helpers;
        this.#about = about;
    }

    get steps() {
        return this.#about.steps;
    }

    get formatVersion() {
        return this.#about.formatVersion;
    }

    /** {step, time, objects} */
    describe(step) {
        return this.#ask("describe", {step});
    }

    /** As Step.read() of bouma.js. */
    read(step, grid, variable, options = {}) {
        return this.#ask("read", {step, grid, variable, options});
    }

    /** As Step.particles() of bouma.js. */
    particles(step, name, options = {}) {
        return this.#ask("particles", {step, name, options});
    }

    close() {
        this.#helpers.forEach(helper => helper.end("the dataset is closed"));
    }

    // The worker that has least to do.
    #ask(call, args) {
        return this.#helpers.reduce((least, helper) => helper.load < least.load ? helper : least).ask(call, args);
    }
}
