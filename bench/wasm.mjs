// wasm.mjs WASM BOUMA BENCH_PYTHON DIRECTORY [SIZE] -- the WebAssembly reader in node beside the
// library: a box in the middle of a grid, half as wide, for each codec.
//
// Processor time is compared, since the module has one thread and the library several; turns
// alternate, and medians count. The values must be the same. A missed target is just told.
import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [wasm, bouma, native, directory, given] = process.argv.slice(2);
const size = Number(given ?? 192);
const [low, high] = [size / 4, (3 * size) / 4];
const box = Array(3).fill(`${low}:${high}`).join(",");
const turns = 7;
const results = []; // as score.h describes them
const target = 3;
const { openDirectory } = await import(pathToFileURL(join(wasm, "node.js")).href);

function field() {
  const data = new Float32Array(size ** 3);
  let i = 0;
  for (let z = 0; z < size; z++)
    for (let y = 0; y < size; y++)
      for (let x = 0; x < size; x++) data[i++] = Math.sin(0.021 * z + 0.3 * Math.sin(0.11 * y)) + 0.3 * Math.cos(0.047 * y + 0.23 * x) + 0.02 * Math.sin(0.93 * x + 1.61 * z);
  return data;
}

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

function seconds(read) {
  const before = process.cpuUsage();
  read();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** Of the library, of all its threads; the first of its reads does not count. */
function nativeSeconds(path) {
  const lines = execFileSync(native, [path, String(low), String(high), "1"], { encoding: "utf8" });
  return Number(lines.trim().split(" ")[1]);
}

function checkSame(path, data) {
  const out = join(directory, "box.raw");
  execFileSync(bouma, ["read", path, "g/v", "--box", box, "-o", out], { stdio: "ignore" });
  const own = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (!own.equals(readFileSync(out))) throw new Error(`${path}: the module reads other values than the library`);
}

function compare(codec, options, source) {
  const path = join(directory, `${codec}.bouma`);
  execFileSync(bouma, ["import", source, "--shape", Array(3).fill(size).join(","), "--type", "f32", "--grid", "g", "--var", "v", "--step", "0", "--codec", codec, ...options, "--into", path], { stdio: "ignore" });
  const dataset = openDirectory(path);
  const step = dataset.openStep(0);
  const read = () => step.read("g", "v", { box: Array(3).fill([low, high]) });
  for (let i = 0; i < 3; i++) checkSame(path, read().data); // and the module is compiled well
  const times = { module: [], library: [] };
  for (let i = 0; i < turns; i++) {
    times.module.push(seconds(read));
    times.library.push(nativeSeconds(path));
  }
  const ratio = median(times.module) / median(times.library);
  results.push({ part: "", name: `${codec}, processor time`, unit: "s", better: "less", target: { at_most: target }, reference: { name: "the library", samples: times.library }, samples: times.module });
  console.log(`  ${codec.padEnd(8)} module ${(1e3 * median(times.module)).toFixed(1)} ms, library ${(1e3 * median(times.library)).toFixed(1)} ms; module / library ${ratio.toFixed(2)} <= ${target} ${ratio <= target ? "met" : "MISSED"}`);
  step.free();
  dataset.close();
}

const source = join(directory, "field.raw");
writeFileSync(source, new Uint8Array(field().buffer));
console.log(`a box of ${high - low}^3 f32, processor time, medians of ${turns}`);
compare("raw", [], source);
compare("zstd", [], source);
compare("interp", ["--relative", "1e-3"], source);
if (process.env.BENCH_RUNS) appendFileSync(process.env.BENCH_RUNS, JSON.stringify({ benchmark: "wasm", settings: { size }, results }) + "\n");
