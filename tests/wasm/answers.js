// answers.js WASM BOUMA DATASET... -- what the module answers to requests must be
// what `bouma serve` answers: codes, headers, and every byte.
import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {join} from "node:path";
import {argv} from "node:process";
import {createInterface} from "node:readline";
import {pathToFileURL} from "node:url";
import {FileRequest} from "./file_request.js";

const [wasm, bouma, ...datasets] = argv.slice(2);
const {Answers, HttpSource, SourceError} = await import(pathToFileURL(join(wasm, "bouma.js")));
const {compile, FileSource, listingOf} = await import(pathToFileURL(join(wasm, "node.js")));
globalThis.XMLHttpRequest = FileRequest;

const part = encodeURIComponent;

/** A server of one dataset: [its process, its URL]. It has one reader, as the module: within a budget of bytes, an
 * answer depends on what its reader has read before. */
async function serve(path) {
    const child = spawn(bouma, ["serve", path, "--port", "0", "--workers", "1"], {stdio: ["ignore", "pipe", "ignore"]});
    const url = await new Promise((resolve, reject) => {
        createInterface({input: child.stdout}).once("line", resolve);
        child.once("exit", code => reject(new Error(`bouma serve ended with ${code}`)));
    });
    return [child, url.trim().replace(/\/$/, "")];
}

// ---- requests -------------------------------------------------------------------

const middle = ([low, high]) => `${low + (high - low) / 4}:${low + (high - low) * 0.7}`;
const within = n => `${Math.floor(n / 4)}:${Math.ceil(n * 0.8)}`;

function* ofGrid(at, run, grid) {
    const box = grid.shape.map(within).join(",");
    for (const {name, components} of grid.variables) {
        const of = `${at}/${part(grid.name)}/${part(name)}`;
        for (let level = 0; level < grid.levels; level++) {
            yield `${of}/samples?level=${level}`;
            yield `${of}/samples?level=${level}&type=u8&component=${components - 1}&box=${box}`;
        }
        yield `${of}/samples?type=u8&low=0.25&high=0.5`;
        yield `${of}/samples?type=f32&box=${grid.shape.map(n => `${n - 1}:${n}`).join(",")}`;
        yield `${of}/samples?type=f16&max_points=500`;
        yield `${of}/samples?max_bytes=3000`;
        yield `${of}/samples?max_error=0.01&type=f32`;
        yield `${of}/samples?level=99`;
        yield `${of}/samples?box=1:2:3`;
        yield `${of}/ranges`;
        yield `${of}/ranges?box=${box}&component=${components - 1}`;
        yield `${of}/histogram?bins=16`;
        yield `${of}/histogram?bins=7&exact=1&box=${box}`;
        yield `/api/v1/${run}/series/${part(grid.name)}/${part(name)}?at=${grid.shape.map(n => n >> 1).join(",")}&component=0`;
    }
}

function* ofParticles(at, set) {
    const of = `${at}/${part(set.name)}`;
    const box = set.low.map((low, i) => middle([low, set.high[i]])).join(",");
    yield `${of}/particles`;
    yield `${of}/particles?from=0.1&quality=0.5&type=f32&origin=${set.low.join(",")}`;
    yield `${of}/particles?box=${part(box)}&type=f32`;
    yield `${of}/particles?limit=50&type=f32`;
    yield `${of}/particles?max_bytes=5000`;
    yield `${of}/particles?where=${part("nothing of the kind > 3")}`;
    for (const {name, ranges, components} of set.variables) {
        const {low, high} = ranges[0];
        yield `${of}/${part(name)}/histogram?bins=12&component=${components - 1}`;
        if (typeof low !== "number" || typeof high !== "number" || components > 1 || !/^\w+$/.test(name))
            continue;
        const where = part(`${name} > ${low + (high - low) / 3} and ${name} <= ${high}`);
        yield `${of}/particles?where=${where}&type=f32&variables=${part(set.variables[0].name)},${part(name)}`;
        yield `${of}/${part(name)}/histogram?bins=8&where=${where}&exact=1`;
    }
}

function* requests(name, run, steps) {
    yield `/api/v1/${name}`;
    yield `/api/v1/${name}/last`;
    yield `/api/v1/${name}/123456789`;
    yield `/api/v1/${name}/never`;
    yield `/api/v1/nobody/0`;
    yield `/api/v1/${name}/0?wrong=1`;
    for (const step of steps) {
        const at = `/api/v1/${name}/${step.step}`;
        yield at;
        yield `${at}?tag=0000000000000000`;
        for (const object of step.objects)
            yield* object.kind === "grid" ? ofGrid(at, name, object) : ofParticles(at, object);
    }
}

// ---- comparison -----------------------------------------------------------------

const headersOf = list => Object.fromEntries([...list].map(([key, value]) => [key.toLowerCase(), value])
    .filter(([key]) => key.startsWith("bouma-") || key === "content-type").sort());

function bodyOf(headers, bytes) {
    const body = Buffer.from(bytes);
    return headers["content-type"] === "application/json" ? body.toString() : body;
}

async function same(url, answers, target) {
    const theirs = await fetch(url + target);
    const ours = answers.get(target);
    const [a, b] = [headersOf(theirs.headers), headersOf(Object.entries(ours.headers))];
    const told = {code: ours.code, headers: b, body: bodyOf(b, ours.body)};
    assert.deepStrictEqual(told, {code: theirs.status, headers: a, body: bodyOf(a, await theirs.arrayBuffer())}, target);
    return theirs.status;
}

const codes = {};
for (const [number, path] of datasets.entries()) {
    const [child, url] = await serve(path);
    const [{name}] = (await (await fetch(`${url}/api/v1`)).json()).datasets;
    const run = await (await fetch(`${url}/api/v1/${part(name)}`)).json();
    const steps = await Promise.all(run.steps.map(async step => (await fetch(`${url}/api/v1/${part(name)}/${step}`)).json()));
    const source = number % 2 ? new FileSource(path)
        : new HttpSource(path + "/", listingOf(path), {blockBytes: 4096, cacheBytes: 1 << 20, needsRanges: true});
    const answers = new Answers(compile(), source, name);
    for (const target of requests(part(name), run, steps)) {
        const code = await same(url, answers, target);
        codes[code] = (codes[code] ?? 0) + 1;
    }
    assert.equal(answers.get(`/api/v1/${part(name)}/events`).code, 404);
    assert.equal(answers.get("/zarr/run/flow/0/.zgroup").code, 404);
    assert.equal(answers.get("no path").code, 400);
    child.kill("SIGINT");
    await new Promise(resolve => child.once("exit", resolve));
}
console.log(`${datasets.length} datasets, answers by their codes:`, codes);
assert.ok(codes[200] > 100 && codes[400] && codes[404] && codes[409]);

// ---- what a web server can do wrong -----------------------------------------------

const path = datasets.at(-1);
const listing = listingOf(path);
const {body} = new Answers(compile(), new FileSource(path), "x").get("/api/v1/x/last");
const grid = JSON.parse(Buffer.from(body)).objects.find(object => object.kind === "grid");
const target = `/api/v1/x/last/${part(grid.name)}/${part(grid.variables[0].name)}/samples?level=${grid.levels - 1}`;
const tells = (answers, pattern, retry) => assert.throws(() => answers.get(target),
    error => error instanceof SourceError && pattern.test(error.message) && error.retry === retry);
const reads = (change, at = path) => new Answers(compile(),
    new HttpSource(at + "/", change, {blockBytes: 16, needsRanges: true}), "x");

globalThis.XMLHttpRequest = class extends FileRequest {
    setRequestHeader() {}
};
tells(reads(listing), /does not know Range requests/, false);
globalThis.XMLHttpRequest = class extends FileRequest {
    send() {
        throw new Error("NetworkError");
    }
};
tells(reads(listing), /not reached/, true);
globalThis.XMLHttpRequest = class extends FileRequest {
    send() {
        this.status = 503;
    }
};
tells(reads(listing), /answers 503/, true);
globalThis.XMLHttpRequest = class extends FileRequest {
    getResponseHeader() {
        return "bytes 0-1/3";
    }
};
tells(reads(listing), /shorter than its listing/, false);
globalThis.XMLHttpRequest = FileRequest;
tells(reads(listing, "/nowhere"), /answers 404/, false);
console.log("what a web server does wrong is told");
