// kit.mjs -- what the tests in a browser share: datasets, servers, pages, and waiting for what a
// page tells of itself. Nothing here depends on speed; CTest ends what waits for ever.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const build = resolve(process.argv[2]);
const here = dirname(fileURLToPath(import.meta.url));
const bouma = join(build, "bin/bouma");
const python = process.env.PYTHON ?? "/usr/bin/python3";
const environment = { ...process.env, PYTHONPATH: join(build, "python"), PYTHONDONTWRITEBYTECODE: "1" };
const software = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];

export const work = mkdtempSync(join(tmpdir(), "viewer-browser-"));
export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// ---- programs -------------------------------------------------------------------

export function run(...args) {
  return execFileSync(bouma, args, { cwd: work, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

/** A dataset of one of the examples, on one rank. */
export function example(name, ...args) {
  execFileSync(join(build, "bin", `example_${name}`), args, { cwd: work, stdio: ["ignore", "ignore", "inherit"] });
}

/** A dataset of data.py. */
export function make(what, directory = work) {
  mkdirSync(directory, { recursive: true });
  execFileSync(python, [join(here, "data.py"), directory, what], { env: environment, stdio: "inherit" });
}

/** A program that writes a step for each line it reads, and tells when it has. */
export function writer() {
  const child = spawn(python, [join(here, "data.py"), work, "follow"], { env: environment, stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async write() {
      child.stdin.write("\n");
      await lines.next();
    },
    async end() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.stdin.end();
      await ended;
    },
  };
}

/** A server; its base URL is told in the first line. */
export async function serve({ port = 0, directory = work, options = [] } = {}) {
  const child = spawn(bouma, ["serve", directory, "--port", String(port), ...options], { stdio: ["ignore", "pipe", "ignore"] });
  const first = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", resolve);
    child.once("exit", (code) => reject(new Error(`bouma serve ended with ${code}`)));
  });
  return { child, base: first.trim(), port: Number(new URL(first).port) };
}

export async function stop(server) {
  const ended = new Promise((resolve) => server.child.once("exit", resolve));
  server.child.kill("SIGINT");
  await ended;
}

// ---- pages ----------------------------------------------------------------------

/** Requests to elsewhere, and errors of scripts, of all pages. */
export const foreign = [];
export const complaints = [];
const kit = { server: null, browser: null };
export const base = () => kit.server.base;

export async function begin() {
  kit.server = await serve();
  kit.browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: software });
}

export async function end() {
  await kit.browser?.close();
  kit.server?.child.kill("SIGINT");
  rmSync(work, { recursive: true, force: true });
}

/** Stop the server that all pages use; what is given back starts it again at the same address. */
export async function stopServer() {
  const { port } = kit.server;
  await stop(kit.server);
  return async () => (kit.server = await serve({ port }));
}

/** A browser that has no WebGL. */
export function launchWithoutPictures() {
  return chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-3d-apis"] });
}

/** A page, in a context of its own if 'options' asks for what only a context has. */
export async function open(hash, width = 900, height = 600, { from = base(), ...options } = {}) {
  const page = await kit.browser.newPage({ viewport: { width, height }, ...options });
  const { origin } = new URL(from);
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol !== "blob:" && url.protocol !== "data:" && url.origin !== origin) foreign.push(request.url());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy/.test(message.text())) complaints.push(message.text());
  });
  await page.goto(from + hash);
  return page;
}

export const stateOf = (page) => page.evaluate(() => window.bouma.state());

/** Wait for a state. */
export async function until(page, what) {
  for (;;) {
    const state = await stateOf(page);
    if (what(state)) return state;
    await pause(100);
  }
}
export const complete = (page) => until(page, (s) => s.phase === "complete");

/** Wait until 'find' gives something. */
export async function wait(find) {
  for (;;) {
    const found = await find();
    if (found) return found;
    await pause(50);
  }
}

// ---- pixels ----------------------------------------------------------------------

let decoder;
/** The pixels of a PNG file, which the browser decodes. */
export async function pixelsOf(png) {
  decoder ??= await kit.browser.newPage();
  const got = await decoder.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    let text = "";
    for (let i = 0; i < data.length; i += 4096) text += String.fromCharCode(...data.subarray(i, i + 4096));
    return { width: image.width, height: image.height, data: btoa(text) };
  }, png.toString("base64"));
  return { ...got, data: Buffer.from(got.data, "base64") };
}

/** How many colours a picture has. */
export async function coloursOf(png) {
  const { data } = await pixelsOf(png);
  const colours = new Set();
  for (let n = 0; n < data.length; n += 4) colours.add(data.readUInt32LE(n));
  return colours.size;
}
