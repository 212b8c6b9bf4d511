// browser.js WASM BROWSER DATASET... -- a page in a headless browser reads
// datasets from a web server that only knows Range requests, and must get what
// Node gets from files.
import {spawn} from "node:child_process";
import {webcrypto} from "node:crypto";
import {mkdtempSync, readFileSync, rmSync, statSync} from "node:fs";
import {createServer} from "node:http";
import {tmpdir} from "node:os";
import {basename, dirname, join} from "node:path";
import {argv, exit} from "node:process";
import {fileURLToPath, pathToFileURL} from "node:url";
import {isDeepStrictEqual} from "node:util";
import {readAll} from "./read_all.js";

globalThis.crypto ??= webcrypto; // not there before Node 19
const HANG_SECONDS = 1500;
const [wasm, browser, ...datasets] = argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const {openDirectory, listingOf} = await import(pathToFileURL(join(wasm, "node.js")));
const paths = new Map(datasets.map(path => [basename(path), path]));
const counts = {ranges: 0, bytes: 0};

const TYPES = {js: "text/javascript", html: "text/html", wasm: "application/wasm", json: "application/json"};

function fileOf(path) {
    const [, top, ...rest] = path.split("/");
    const base = {wasm, tests: here, data: paths.get(rest[0])}[top];
    return base && join(base, ...(top === "data" ? rest.slice(1) : rest));
}

function send(request, response, file) {
    const bytes = readFileSync(file);
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    const type = TYPES[file.split(".").at(-1)] ?? "application/octet-stream";
    if (!range)
        return response.writeHead(200, {"Content-Type": type}).end(bytes);
    const [first, last] = [Number(range[1]), Math.min(Number(range[2]), bytes.length - 1)];
    counts.ranges++;
    counts.bytes += last + 1 - first;
    return response.writeHead(206, {"Content-Type": type, "Content-Range": `bytes ${first}-${last}/${bytes.length}`})
        .end(bytes.subarray(first, last + 1));
}

// The server, until the page has told its results.
function results(start) {
    return new Promise((resolve, reject) => {
        const server = createServer((request, response) => {
            const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
            const file = fileOf(path);
            if (path === "/names")
                response.end(JSON.stringify([...paths.keys()]));
            else if (path === "/results")
                request.toArray().then(parts => {
                    response.end();
                    resolve(JSON.parse(Buffer.concat(parts)));
                });
            else if (path.endsWith("/listing.json") && file)
                response.end(JSON.stringify(listingOf(dirname(file))));
            else if (file && statSync(file, {throwIfNoEntry: false})?.isFile())
                send(request, response, file);
            else
                response.writeHead(404).end();
        });
        setTimeout(() => reject(new Error("the browser hangs")), HANG_SECONDS * 1000).unref();
        server.listen(0, "127.0.0.1", () => start(server.address().port, reject));
    });
}

// A directory as a RemoteDataset, which answers at once.
function local(path) {
    const run = openDirectory(path);
    const opened = new Map(run.steps.map(({step}) => [step, run.openStep(step)]));
    return {
        steps: run.steps,
        describe: async step => opened.get(step),
        read: async (step, ...args) => opened.get(step).read(...args),
        particles: async (step, ...args) => opened.get(step).particles(...args),
    };
}

const profile = mkdtempSync(join(tmpdir(), "bouma-browser-"));
let child = null, failed = 0, lines = 0;
try {
    const found = await results((port, reject) => {
        child = spawn(browser, ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                                `--user-data-dir=${profile}`, `http://127.0.0.1:${port}/tests/browser.html`],
                      {stdio: "ignore"});
        child.on("error", reject);
        child.on("exit", code => reject(new Error(`the browser has ended: ${code}`)));
    });
    for (const [name, path] of paths) {
        const expected = await readAll(local(path));
        lines += expected.length;
        if (isDeepStrictEqual(found[name], expected))
            continue;
        failed++;
        console.log(`${name}:`, [].concat(found[name]).filter((line, i) => line !== expected[i]).slice(0, 5));
    }
} finally {
    child?.removeAllListeners("exit");
    const ended = child && child.exitCode === null && new Promise(resolve => child.on("exit", resolve));
    child?.kill();
    await ended;
    rmSync(profile, {recursive: true, force: true, maxRetries: 10});
}
console.log(`${paths.size} datasets, ${lines} reads, ${counts.ranges} ranges of ${counts.bytes} bytes; ${failed} differ`);
exit(failed || !lines || !counts.ranges ? 1 : 0);
