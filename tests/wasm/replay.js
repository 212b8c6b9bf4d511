// replay.js WASM EXPECTED DATA -- ask the module in the directory WASM what
// wasm_expect asked the library, and compare: statuses, messages, descriptions,
// and what was read byte for byte. Datasets are read from files and, every
// other one, by a web server's bytes.
import {openSync, readFileSync, readSync} from "node:fs";
import {argv, exit} from "node:process";
import {join} from "node:path";
import {pathToFileURL} from "node:url";
import {isDeepStrictEqual} from "node:util";
import {FileRequest} from "./file_request.js";

const [wasm, expected, dataPath] = argv.slice(2);
const {BoumaError, Dataset, HttpSource, parseAnswer} = await import(pathToFileURL(join(wasm, "bouma.js")));
const {FileSource, compile, listingOf} = await import(pathToFileURL(join(wasm, "node.js")));
globalThis.XMLHttpRequest = FileRequest;

const data = openSync(dataPath, "r");
const counts = {calls: 0, failures: 0, bytes: 0, differences: 0};
let dataset = null, step = null;

function stored([at, bytes]) {
    const buffer = Buffer.alloc(bytes);
    if (bytes)
        readSync(data, buffer, 0, bytes, at);
    counts.bytes += bytes;
    return buffer;
}

const sameBytes = (array, where) =>
    Buffer.from(array.buffer, array.byteOffset, array.byteLength).equals(stored(where));

const pairs = flat => flat && flat.slice(0, flat.length / 2).map((low, i) => [low, flat[i + flat.length / 2]]);

// Each returns what differs, or null.
const calls = {
    open({path, answer}, number) {
        dataset?.close();
        dataset = step = null;
        const source = number % 2 ? new HttpSource(path + "/", listingOf(path), {blockBytes: 1000, cacheBytes: 20000})
            : new FileSource(path);
        source.name = path;
        dataset = Dataset.open(compile(), source);
        return isDeepStrictEqual({format_version: dataset.formatVersion, steps: dataset.steps}, answer) ? null
            : dataset.steps;
    },
    step({number, answer}) {
        step?.free();
        step = null;
        step = dataset.openStep(number);
        const found = {step: step.step, time: step.time, objects: step.objects};
        return isDeepStrictEqual(found, answer) ? null : found;
    },
    read({grid, variable, level, type, box, answer, data: where}) {
        const {data: array, ...found} = step.read(grid, variable, {level, type: type || null, box: pairs(box) ?? null});
        const {bytes, ...about} = answer;
        if (!isDeepStrictEqual(found, about) || array.byteLength !== bytes)
            return found;
        return sameBytes(array, where) ? null : "other samples";
    },
    particles({name, from, quality, box, where, low, only, answer, columns}) {
        const found = step.particles(name, {from, quality, box: pairs(box) ?? null, closed: [0],
                                            where: where ? [{variable: where, low}] : [],
                                            variables: only ? [only] : null});
        if (found.count !== answer.count || found.columns.length !== columns.length)
            return found.count;
        const wrong = found.columns.find((column, i) => column.name !== answer.columns[i].name ||
            column.type !== answer.columns[i].type || column.components !== answer.columns[i].components ||
            !sameBytes(column.data, columns[i]));
        return wrong ? `other values of ${wrong.name}` : null;
    },
};

function differs(line, number) {
    try {
        const difference = calls[line.call](line, number);
        return line.status === "OK" ? difference : "no failure";
    } catch (error) {
        if (!(error instanceof BoumaError))
            throw error;
        counts.failures++;
        return error.status === line.status && error.message === line.message ? null
            : `${error.status}: ${error.message}`;
    }
}

// JSON.stringify() makes 0 of -0, which ranges of values may have.
function restoreSigns(parsed, written) {
    for (const key of Object.keys(written))
        if (Object.is(written[key], -0))
            parsed[key] = -0;
        else if (written[key] && typeof written[key] === "object")
            restoreSigns(parsed[key], written[key]);
    return parsed;
}

let opened = 0, path = "";
for (const text of readFileSync(expected, "utf8").split("\n").filter(line => line)) {
    const line = JSON.parse(text);
    line.answer &&= restoreSigns(parseAnswer(JSON.stringify(line.answer)), line.answer);
    if (line.call === "open") {
        opened++;
        ({path} = line);
    }
    counts.calls++;
    const difference = differs(line, opened);
    if (difference !== null) {
        counts.differences++;
        console.log(`${path}: ${text.slice(0, 300)}\n    ${JSON.stringify(difference).slice(0, 300)}`);
    }
}
console.log(`${opened} datasets, ${counts.calls} calls, ${counts.failures} of them fail; ${counts.bytes} bytes; ` +
    `${counts.differences} differences`);
exit(counts.differences || !counts.bytes ? 1 : 0);
