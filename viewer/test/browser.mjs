// browser.mjs BUILD -- the viewer of BUILD/bin/bouma in a browser: pixels against 'bouma render',
// bytes, time, filters, a running writer, a server that goes and comes back. Other topics
// are in files of their own.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { base, begin, coloursOf, complaints, complete, end, example, foreign, launchWithoutPictures, make, open, pause, pixelsOf, run, stopServer, until, wait, work, writer } from "./kit.mjs";
import { engine } from "./engine.mjs";
import { hands } from "./hands.mjs";
import { odd } from "./odd.mjs";
import { bestDifference, tolerance } from "./pixels.mjs";

const vortex = join(work, "vortex.bouma");

async function sameAsRender(name, hash, width, height, ...args) {
  await samePicture("vortex", name, hash, width, height, ...args);
}

async function samePicture(dataset, name, hash, width, height, ...args) {
  const page = await open(`#run=${dataset}&bare=1&nearest=1&${hash}`, width, height);
  await complete(page);
  const shown = await pixelsOf(await page.screenshot());
  await page.close();
  const file = join(work, `${name}.png`);
  run("render", join(work, `${dataset}.bouma`), ...args, "--size", String(Math.max(width, height)), "-o", file);
  const off = bestDifference(await pixelsOf(readFileSync(file)), shown);
  assert.ok(off <= tolerance, `${name}: a pixel differs by ${off} from bouma render`);
  console.log(`  ${name}: largest difference ${off}`);
}

// ---- claims -------------------------------------------------------------------------

const claims = {
  async "slices and maxima are those of bouma render"() {
    const density = "grid=flow/density";
    await sameAsRender("slice_z", `${density}&mode=slices&slices=z40&along=z&step=10`, 256, 256, "flow/density", "--slice", "z=40", "--step", "10");
    await sameAsRender("slice_y", `${density}&mode=slices&slices=y20&along=y&map=magma`, 256, 256, "flow/density", "--slice", "y=20", "--colours", "magma");
    await sameAsRender("slice_x", `${density}&mode=slices&slices=x33&along=x&range=0.2,0.9`, 256, 256, "flow/density", "--slice", "x=33", "--range", "0.2,0.9");
    await sameAsRender("level_2", `${density}&mode=slices&slices=z40&along=z&level=2`, 256, 256, "flow/density", "--slice", "z=40", "--level", "2");
    await sameAsRender("max_z", `${density}&mode=max&along=z`, 256, 256, "flow/density", "--project", "max", "--axis", "z");
    await sameAsRender("max_y", `${density}&mode=max&along=y&map=coolwarm`, 256, 256, "flow/density", "--project", "max", "--axis", "y", "--colours", "coolwarm");
    await sameAsRender("max_x", `${density}&mode=max&along=x&level=1`, 256, 256, "flow/density", "--project", "max", "--axis", "x", "--level", "1");
  },

  async "the datasets of the demo open, and look as bouma render draws them"() {
    example("heat", "heat.bouma");
    example("boiler", "--steps", "2", "--particles", "2000", "boiler.bouma");
    await samePicture("heat", "heat", "grid=cube/temperature&mode=slices&slices=z16&along=z", 256, 256, "cube/temperature", "--slice", "z=16");
    await samePicture("heat", "heat_exact", "grid=cube/exact&mode=max&along=z", 256, 256, "cube/exact", "--project", "max", "--axis", "z");
    const page = await open("#run=boiler&particles=coal", 400, 300);
    const { points } = await complete(page);
    assert.equal(points, Number(JSON.parse(run("query", "boiler.bouma", "coal", "--json")).count));
    await page.close();
  },

  async "samples without a value are pink, as in bouma render"() {
    await sameAsRender("holes", "grid=slab/holes&mode=slices&slices=y5&along=y", 256, 80, "slab/holes", "--slice", "y=5");
  },

  async "the first picture needs a small part of the bytes"() {
    const page = await open("#run=vortex&grid=flow/density");
    const state = await complete(page);
    assert.equal(state.level, 0);
    assert.ok(state.firstBytes > 0 && state.firstBytes * 20 < state.bytes, JSON.stringify(state));
    assert.ok(state.bricks <= state.slots);
    console.log(`  first picture ${state.firstBytes} bytes, refined ${state.bytes} bytes`);
    await page.close();
  },

  async "steps are changed by keys, and a link restores the view"() {
    const page = await open("#run=vortex&grid=flow/density&mode=iso&theme=dark", 400, 300);
    assert.equal((await complete(page)).step, 20);
    await page.keyboard.press("ArrowLeft");
    await until(page, (s) => s.step === 10 && s.phase === "complete");
    await page.keyboard.press("4");
    await page.keyboard.press("y");
    const { link } = await until(page, (s) => s.link.includes("mode=slices") && s.link.includes("along=y") && s.phase === "complete");
    const again = await open(link, 400, 300);
    const state = await complete(again);
    assert.equal(state.link, link);
    assert.equal(state.step, 10);
    await page.keyboard.press("Space");
    await until(page, (s) => s.playing && s.step === 20);
    await until(page, (s) => s.step === 0);
    await again.close();
    await page.close();
  },

  async "every way to draw shows something"() {
    for (const mode of ["volume", "max", "iso", "slices"]) {
      const page = await open(`#run=vortex&grid=flow/density&mode=${mode}&bare=1&theme=dark`, 200, 150);
      await complete(page);
      const colours = await coloursOf(await page.screenshot());
      assert.ok(colours > 50, `${mode}: ${colours} colours`);
      await page.close();
    }
  },

  async "particles are those that bouma query finds"() {
    const found = (...args) => JSON.parse(run("query", vortex, "coal", "--json", ...args)).count;
    const page = await open("#run=vortex&particles=coal&colour=T", 400, 300);
    assert.equal((await complete(page)).points, 50000);
    await page.close();
    const filtered = await open("#run=vortex&particles=coal&colour=T&where=T:700:900", 400, 300);
    assert.equal((await complete(filtered)).points, found("--where", "700 <= T <= 900"));
    await filtered.close();
    const few = await open("#run=vortex&particles=coal&colour=T&quality=0.1", 400, 300);
    assert.equal((await complete(few)).points, found("--quality", "0.1"));
    await few.close();
  },

  async "the pointer tells coordinates and the exact value"() {
    const page = await open("#run=vortex&grid=flow/density&mode=slices&slices=z40&along=z", 700, 600);
    await complete(page);
    const box = await page.locator("#canvas").boundingBox();
    await page.mouse.move(box.x + box.width / 2 + 3, box.y + box.height / 2 - 3);
    let text = "…";
    while (!text || text.includes("…")) {
      text = await page.locator("#tip").textContent();
      await pause(50);
    }
    const [, sample] = /sample ([\d, ]+)/.exec(text);
    const at = sample.split(",").map(Number);
    assert.equal(at[0], 40);
    const raw = join(work, "one.raw");
    run("read", vortex, "flow/density", "--box", at.map((i) => `${i}:${i + 1}`).join(","), "-o", raw);
    const value = readFileSync(raw).readFloatLE(0);
    const told = Number(/density (\S+) kg/.exec(text)[1]);
    assert.ok(Math.abs(told - value) <= 1e-4 * Math.abs(value), `${text}: ${value}`);
    await page.close();
  },

  async "a running writer is followed"() {
    const { write, end: endWriter } = writer();
    await write();
    await wait(async () => (await (await fetch(`${base()}api/v1`)).json()).datasets.some((d) => d.name === "live" && d.steps > 0));
    const page = await open("#run=live&follow=1", 400, 300);
    await until(page, (s) => s.step === 0 && s.phase === "complete");
    for (let step = 1; step <= 2; step++) {
      await write();
      await until(page, (s) => s.step === step && s.phase === "complete" && s.steps.length === step + 1);
    }
    await endWriter();
    await page.close();
  },

  async "a server that comes back is used again"() {
    const page = await open("#run=vortex&grid=flow/density&mode=slices&step=20", 400, 300);
    await complete(page);
    const start = await stopServer();
    await page.keyboard.press("ArrowLeft");
    const lost = await until(page, (s) => !s.connected);
    assert.match(lost.message, /does not answer/);
    await start();
    const back = await until(page, (s) => s.connected && s.step === 10 && s.phase === "complete");
    assert.equal(back.message, null);
    await page.close();
  },

  async "errors can be read"() {
    const page = await open("#run=nothing", 400, 300);
    const state = await until(page, (s) => s.message);
    assert.match(state.message, /nothing/);
    await page.close();
    const without = await launchWithoutPictures();
    const bare = await without.newPage();
    await bare.goto(base());
    assert.match((await until(bare, (s) => s.message)).message, /WebGL 2/);
    await without.close();
  },
};

/** Of all pages of all topics. */
const last = {
  async "nothing is loaded from elsewhere, and no script fails"() {
    assert.deepEqual(foreign, []);
    assert.deepEqual(complaints, []);
    const policy = (await fetch(base())).headers.get("Content-Security-Policy");
    assert.match(policy, /default-src 'self'/);
    assert.doesNotMatch(policy, /'unsafe-|\*|https?:/);
    // What a name could do if it became HTML: the browser refuses.
    const page = await open("", 300, 200);
    const done = await page.evaluate(async () => {
      const script = document.createElement("script");
      script.textContent = "window.wasRun = true";
      document.body.append(script);
      const answer = await fetch("http://127.0.0.2:9/").then(() => "sent", () => "refused");
      return [window.wasRun ?? "not run", answer];
    });
    assert.deepEqual(done, ["not run", "refused"]);
    await wait(() => complaints.length >= 2); // both by the policy
    await page.close();
  },
};

let failed = 0;
try {
  make("vortex");
  await begin();
  for (const [claim, check] of Object.entries({ ...claims, ...engine, ...hands, ...odd, ...last })) {
    if (process.env.ONLY && !claim.includes(process.env.ONLY)) continue;
    try {
      await check();
      console.log(`holds: ${claim}`);
    } catch (error) {
      failed++;
      console.log(`does not hold: ${claim}\n${error.stack}`);
    }
  }
} finally {
  await end();
}
process.exit(failed ? 1 : 0);
