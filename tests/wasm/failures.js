// failures.js WASM DATASET -- what goes wrong outside the module is told, and
// what was opened before goes on.
import assert from "node:assert";
import {argv} from "node:process";
import {join} from "node:path";
import {pathToFileURL} from "node:url";
import {FileRequest} from "./file_request.js";

const [wasm, path] = argv.slice(2);
const {BoumaError, Dataset, HttpSource} = await import(pathToFileURL(join(wasm, "bouma.js")));
const {FileSource, compile, listingOf, openDirectory} = await import(pathToFileURL(join(wasm, "node.js")));

const fails = (body, status, message = /./) => assert.throws(body, error =>
    error instanceof BoumaError && error.status === status && message.test(error.message));
const whole = run => run.openStep(run.steps[0].step).read("cube", "special").data;
const expected = whole(openDirectory(path));

// A source that throws while 'broken' is set.
class Moody extends FileSource {
    broken = false;

    read(...args) {
        if (this.broken)
            throw new Error("the cable is out");
        return super.read(...args);
    }
}
const moody = new Moody(path), run = Dataset.open(compile(), moody);
const step = run.openStep(0);
moody.broken = true;
assert.throws(() => step.read("cube", "special"),
              error => error.status === "EIO" && error.cause.message === "the cable is out");
moody.broken = false;
assert.deepStrictEqual(step.read("cube", "special").data, expected);

// Wrong arguments.
fails(() => step.read("cube", "special", {box: [[0, 1]]}), "EINVAL", /3 pairs/);
fails(() => step.read("cube", "special", {type: "f16"}), "EINVAL", /f32/);
fails(() => step.read("cube", "special", {level: -1}), "ENOTFOUND");
fails(() => step.particles("cube"), "ENOTFOUND");
fails(() => run.openStep(99), "ENOTFOUND");
fails(() => openDirectory(join(path, "steps")), "ENOTFOUND", /DATASET|dataset/);

// What is gone.
step.free();
step.free();
fails(() => step.read("cube", "special"), "ESTATE", /freed/);
run.close();
run.close();
fails(() => run.openStep(0), "ESTATE", /closed/);

// Servers: one without ranges, one that has lost files, one with an old listing.
class NoRanges extends FileRequest {
    setRequestHeader() {}
}
globalThis.XMLHttpRequest = NoRanges;
assert.deepStrictEqual(whole(Dataset.open(compile(), new HttpSource(path + "/", listingOf(path)))), expected);
globalThis.XMLHttpRequest = FileRequest;
fails(() => Dataset.open(compile(), new HttpSource("/nowhere/", listingOf(path))), "EIO");
const old = listingOf(path);
old.files.DATASET += 1;
fails(() => Dataset.open(compile(), new HttpSource(path + "/", old)), "EIO");

console.log("failures are told");
