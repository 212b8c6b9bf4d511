// folder.mjs BUILD -- the folder that 'bouma serve --static' writes, in a browser, from a server that
// knows nothing but files: pixels against 'bouma render', bytes, time, filters, and what can go wrong.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { begin, complaints, complete, end, foreign, make, open, pixelsOf, run, until, work, writer } from "./kit.mjs";
import { serveFiles } from "./file_server.mjs";
import { bestDifference, tolerance } from "./pixels.mjs";

const vortex = join(work, "vortex.bouma");
const site = join(work, "site");
let files;

/** What fails is told in the page; it is not waited for what cannot come. */
async function message(page, pattern) {
  const { message } = await until(page, (s) => s.message);
  assert.match(message, pattern);
  await page.close();
}

async function sameAsRender(name, hash, ...args) {
  const page = await open(`#run=vortex&bare=1&nearest=1&grid=flow/density&${hash}`, 256, 256, { from: files.base });
  await complete(page);
  const shown = await pixelsOf(await page.screenshot());
  await page.close();
  const file = join(work, `${name}.png`);
  run("render", vortex, "flow/density", ...args, "--size", "256", "-o", file);
  const off = bestDifference(await pixelsOf(readFileSync(file)), shown);
  assert.ok(off <= tolerance, `${name}: a pixel differs by ${off} from bouma render`);
  console.log(`  ${name}: largest difference ${off}`);
}

const claims = {
  async "pictures are those of bouma render"() {
    await sameAsRender("slice_z", "mode=slices&slices=z40&along=z&step=10", "--slice", "z=40", "--step", "10");
    await sameAsRender("max_x", "mode=max&along=x&level=1", "--project", "max", "--axis", "x", "--level", "1");
  },

  async "the first picture needs few bytes, and no file comes whole"() {
    Object.assign(files.counts, { requests: 0, ranges: 0, bytes: 0 });
    const page = await open("#run=vortex&grid=flow/density", 900, 600, { from: files.base });
    const state = await complete(page);
    assert.equal(state.level, 0);
    assert.ok(state.firstBytes > 0 && state.firstBytes <= 3 << 17, JSON.stringify(state));
    assert.equal(files.counts.ranges, files.counts.requests);
    // The page counts what came, but for the byte that shows whether ranges can be had.
    assert.equal(state.bytes, files.counts.bytes - 1);
    // The grid's share of its step, once for each worker at most.
    const [stored] = JSON.parse(run("info", vortex, "--json", "--step", "20")).steps.map((step) => step.bytes);
    assert.ok(state.bytes <= 4 * stored, `${state.bytes} of ${stored}`);
    console.log(`  first picture ${state.firstBytes} bytes, refined ${state.bytes} bytes in ${files.counts.requests} requests; the step has ${stored}`);
    await page.close();
  },

  async "steps are changed by keys"() {
    const page = await open("#run=vortex&grid=flow/density&mode=iso", 400, 300, { from: files.base });
    assert.equal((await complete(page)).step, 20);
    await page.keyboard.press("ArrowLeft");
    await until(page, (s) => s.step === 10 && s.phase === "complete");
    await page.close();
  },

  async "particles are those that bouma query finds"() {
    const found = (...args) => JSON.parse(run("query", vortex, "coal", "--json", ...args)).count;
    for (const [hash, ...args] of [[""], ["&where=T:700:900", "--where", "700 <= T <= 900"], ["&quality=0.1", "--quality", "0.1"]]) {
      const page = await open(`#run=vortex&particles=coal&colour=T${hash}`, 400, 300, { from: files.base });
      assert.equal((await complete(page)).points, found(...args));
      await page.close();
    }
  },

  async "several datasets are in one folder, and steps appear when it is written again"() {
    const live = writer();
    await live.write();
    run("serve", "--static", site, vortex, join(work, "live.bouma"));
    const page = await open("#run=live&follow=1", 400, 300, { from: files.base });
    await until(page, (s) => s.step === 0 && s.phase === "complete");
    await live.write();
    run("serve", "--static", site, vortex, join(work, "live.bouma"));
    await until(page, (s) => s.step === 1 && s.phase === "complete" && s.steps.length === 2);
    await live.end();
    await page.close();
  },

  async "a server without ranges is told of"() {
    files.how.ranges = false;
    const page = await open("#run=vortex", 400, 300, { from: files.base });
    await message(page, /does not know Range requests.*nginx/);
    files.how.ranges = true;
  },

  async "a file that is not there is told of"() {
    files.how.missing = /d\.0000/;
    await message(await open("#run=vortex&grid=flow/density", 400, 300, { from: files.base }), /answers 404: the file is not there/);
    files.how.missing = /listing\.json/;
    await message(await open("#run=vortex", 400, 300, { from: files.base }), /listing\.json: the web server answers 404/);
    files.how.missing = null;
    await message(await open("#run=nothing", 400, 300, { from: files.base }), /no dataset 'nothing'/);
  },

  async "a dataset that has changed is told of"() {
    const path = join(site, "listing.json");
    const listing = JSON.parse(readFileSync(path));
    const old = readFileSync(path);
    for (const dataset of listing.datasets) for (const name in dataset.files) dataset.files[name] += 100;
    writeFileSync(path, JSON.stringify(listing));
    await message(await open("#run=vortex", 400, 300, { from: files.base }), /shorter than its listing says/);
    writeFileSync(path, old);
  },

  async "data may lie elsewhere, if pages may read them there"() {
    const other = await serveFiles(site);
    const path = join(site, "listing.json");
    const old = readFileSync(path);
    const listing = JSON.parse(old);
    for (const dataset of listing.datasets) dataset.url = other.base + dataset.url;
    writeFileSync(path, JSON.stringify(listing));
    await message(await open("#run=vortex", 400, 300, { from: files.base }), /CORS/);
    other.how.origin = files.base.slice(0, -1);
    const page = await open("#run=vortex&grid=flow/density", 400, 300, { from: files.base });
    await complete(page);
    await page.close();
    assert.ok(foreign.splice(0).every((url) => url.startsWith(other.base)));
    writeFileSync(path, old);
    await other.stop();
  },

  async "a server that comes back is used again"() {
    const page = await open("#run=vortex&grid=flow/density&mode=slices&step=20", 400, 300, { from: files.base });
    await complete(page);
    const { port } = files;
    await files.stop();
    await page.keyboard.press("ArrowLeft");
    const lost = await until(page, (s) => !s.connected);
    assert.match(lost.message, /does not answer/);
    files = await serveFiles(site, { port });
    await until(page, (s) => s.connected && s.step === 10 && s.phase === "complete");
    await page.close();
  },

  async "nothing is loaded from elsewhere, and no script fails"() {
    assert.deepEqual(foreign, []);
    assert.deepEqual(complaints, []);
  },
};

let failed = 0;
try {
  make("vortex");
  run("serve", "--static", site, vortex);
  files = await serveFiles(site);
  await begin();
  for (const [claim, check] of Object.entries(claims)) {
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
  await files?.stop();
}
process.exit(failed ? 1 : 0);
