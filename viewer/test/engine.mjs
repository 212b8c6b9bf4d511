// engine.mjs -- what is drawn, and what is fetched for it: grids of all kinds, several variables at
// once, bricks that cannot be seen, a lost graphics card.
import assert from "node:assert/strict";
import { coloursOf, complete, make, open, pixelsOf, stateOf, until } from "./kit.mjs";

let made = false;
/** The dataset of all kinds of grids, in a page. */
async function openKinds(hash, width = 300, height = 220) {
  if (!made) make("kinds");
  made = true;
  return open(`#run=kinds&theme=dark&${hash}`, width, height);
}

async function show(page, hash) {
  await page.evaluate((h) => (location.hash = h), `#run=kinds&theme=dark&${hash}`);
  const wanted = new URLSearchParams(hash);
  return until(page, (s) => s.phase === "complete" && [...wanted].every(([key, value]) => key !== "grid" || s.grid === value));
}

/** What is in the middle of the picture, as the mean of a channel. */
async function middle(page) {
  const { width, height, data } = await pixelsOf(await page.screenshot());
  const sum = [0, 0, 0];
  let n = 0;
  for (let y = Math.floor(height * 0.4); y < height * 0.6; y++)
    for (let x = Math.floor(width * 0.4); x < width * 0.6; x++, n++) for (let c = 0; c < 3; c++) sum[c] += data[4 * (y * width + x) + c];
  return sum.map((s) => s / n);
}

export const engine = {
  async "grids and values of all kinds are drawn"() {
    const page = await openKinds("grid=cube/infinite&mode=slices&bare=1");
    const few = ["cube/same", "cube/nothing", "one/a"]; // one colour, and the background
    for (const name of ["cube/infinite", "cube/whole", "cube/large", "cube/ball", "hz/a", "thin/a", "image/a", ...few]) {
      const state = await show(page, `grid=${name}&mode=slices&slices=${name === "image/a" ? "z0" : "x12,y12,z12"}&bare=1`);
      assert.equal(state.message, null, name);
      const colours = await coloursOf(await page.screenshot());
      if (few.includes(name)) assert.ok(colours >= 2 && colours < 10, `${name}: ${colours} colours`);
      else assert.ok(colours > 30, `${name}: ${colours} colours`);
    }
    for (const name of ["cube/infinite", "cube/same", "cube/nothing", "one/a", "thin/a"])
      for (const mode of ["volume", "max", "iso"]) assert.equal((await show(page, `grid=${name}&mode=${mode}&bare=1`)).message, null, `${name} ${mode}`);
    // A vector: a component, and the length of all.
    const pictures = [];
    for (const component of [0, 2, -1]) {
      const state = await show(page, `grid=cube/wind&component=${component}&mode=slices&slices=z24&along=z&bare=1`);
      assert.ok(state.link.includes(`component=${component}`) || component === 0);
      pictures.push((await page.screenshot()).toString("base64"));
    }
    assert.equal(new Set(pictures).size, 3);
    await page.close();
  },

  async "the frame makes no holes in the large pixels of hasty frames"() {
    const page = await open("#run=vortex&grid=flow/density&mode=max&theme=light", 900, 600);
    await complete(page);
    const { data, width, height } = await pixelsOf(Buffer.from(await page.evaluate(() => {
      const { scene } = window.bouma.app;
      scene.moving = true;
      scene.share = 0.125;
      scene.draw();
      return scene.canvas.toDataURL().split(",")[1];
    }), "base64"));
    let holes = 0;
    for (let y = Math.floor(height * 0.4); y < height * 0.8; y++)
      for (let x = Math.floor(width * 0.35); x < width * 0.65; x++) holes += data[4 * (y * width + x) + 2] > 190; // bluer than colours and lines are
    assert.equal(holes, 0);
    await page.close();
  },

  async "a grid of one axis is a curve"() {
    const page = await openKinds("grid=line/a", 700, 400);
    await complete(page);
    assert.ok(await page.locator("#plot canvas").isVisible());
    const state = await stateOf(page);
    assert.ok(state.bytes <= 4 * 5000, `${state.bytes} bytes for 20000 samples`);
    await show(page, "grid=cube/ball");
    assert.ok(!(await page.locator("#plot").isVisible()));
    await page.close();
  },

  async "a surface is coloured by another variable, and particles are in the same picture"() {
    const page = await openKinds("grid=cube/ball&mode=iso&iso=0.5&bare=1&along=z");
    const plain = (await complete(page)).bytes;
    const own = await page.screenshot();
    const tinted = await show(page, "grid=cube/ball&mode=iso&iso=0.5&tint=height&bare=1&along=z");
    assert.ok(tinted.bytes > plain && tinted.atlasBytes <= 128 << 20);
    const other = await page.screenshot();
    // The surface has one colour by itself, and those of heights when it is tinted.
    assert.ok((await coloursOf(other)) > 1.3 * (await coloursOf(own)), `${await coloursOf(own)} and ${await coloursOf(other)} colours`);
    const both = await show(page, "grid=cube/ball&mode=iso&iso=0.5&tint=height&bare=1&along=z&particles=dust&colour=T");
    assert.equal(both.points, 4000);
    assert.ok(both.bricks > 0);
    assert.notDeepEqual(await page.screenshot(), other);
    await page.close();
  },

  async "bricks that cannot be seen are not fetched"() {
    const fetched = [];
    for (const opacity of ["0:0.2,1:0.5", "0:0,0.1:0,1:0.6"]) {
      const page = await openKinds(`grid=cube/ball&opacity=${opacity}&level=0`, 500, 400);
      const state = await complete(page);
      fetched.push(state);
      await page.close();
    }
    const [all, ball] = fetched;
    assert.equal(ball.level, 0);
    assert.ok(ball.bricks < all.bricks, `${ball.bricks} of ${all.bricks} bricks`);
    assert.ok(ball.bytes < all.bytes);
    console.log(`  ${ball.bricks} of ${all.bricks} bricks, ${ball.bytes} of ${all.bytes} bytes`);
  },

  async "the picture is the same with and without what tells which bricks are hidden"() {
    const pictures = [];
    for (const without of [true, false]) {
      const page = await openKinds("grid=cube/height&mode=max&bare=1");
      await complete(page);
      if (without) await page.route("**/ranges?*", (route) => route.fulfill({ status: 404, body: "{}" }));
      for (const hash of ["grid=cube/ball&bare=1", "grid=cube/ball&mode=iso&iso=0.3&bare=1"]) {
        await show(page, hash);
        pictures.push(await pixelsOf(await page.screenshot()));
      }
      await page.close();
    }
    for (const i of [0, 1]) {
      const [a, b] = [pictures[i].data, pictures[i + 2].data];
      let off = 0;
      for (let j = 0; j < a.length; j++) if (Math.abs(a[j] - b[j]) > 12) off++;
      assert.ok(off <= a.length / 2000, `picture ${i}: ${off} of ${a.length} bytes differ`);
    }
  },

  async "a lost graphics card is explained; when it is back, the picture is the same, from memory"() {
    const page = await openKinds("grid=cube/ball&bare=1&particles=dust&colour=T");
    for (const what of ["grid=cube/ball&bare=1&particles=dust&colour=T", "grid=cube/height&mode=slices&slices=x12,y12,z12&bare=1"]) {
      await show(page, what);
      const before = await page.screenshot();
      assert.ok((await coloursOf(before)) > 30);
      const { bytes } = await stateOf(page);
      await page.evaluate(() => {
        window.loss = document.getElementById("canvas").getContext("webgl2").getExtension("WEBGL_lose_context");
        window.loss.loseContext();
      });
      assert.match((await until(page, (s) => s.message)).message, /graphics card/);
      await page.evaluate(() => window.loss.restoreContext());
      await until(page, (s) => s.message === null && s.phase === "complete");
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
      await complete(page);
      const after = await page.screenshot();
      assert.ok((await pixelsOf(after)).data.equals((await pixelsOf(before)).data), what);
      assert.equal((await stateOf(page)).bytes, bytes);
    }
    await page.close();
  },

  async "a late answer about a run does not take its picture away"() {
    const page = await open("", 200, 150);
    await complete(page);
    let first = true;
    let release;
    const held = new Promise((resolve) => (release = resolve));
    await page.route("**/api/v1/kinds", async (route) => {
      if (first) {
        first = false;
        await held;
      }
      await route.continue();
    });
    await page.evaluate(() => (location.hash = "#run=kinds&grid=cube/ball"));
    await page.waitForRequest("**/api/v1/kinds");
    await page.evaluate(() => (location.hash = "#run=kinds&grid=cube/height"));
    await until(page, (s) => s.grid === "cube/height" && s.phase === "complete");
    const answered = page.waitForResponse("**/api/v1/kinds");
    release();
    await answered;
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)));
    assert.equal((await complete(page)).grid, "cube/height");
    await page.close();
  },

  async "the first picture comes in few requests, and slices fetch what they show"() {
    const page = await open("", 100, 100);
    await complete(page);
    await page.close();
    const urls = [];
    const slices = await openKinds("grid=cube/whole&mode=slices&slices=z20&along=z&bare=1", 256, 256);
    const state = await complete(slices);
    assert.equal(state.level, 0);
    assert.ok(state.bytes <= 1.5 * 48 * 48, `${state.bytes} bytes for a slice of ${48 * 48} samples`);
    slices.on("request", (request) => urls.push(request.url()));
    await slices.reload();
    const { begun, firstPicture, firstBytes } = await complete(slices);
    const samples = urls.findIndex((url) => url.includes("/samples?"));
    assert.ok(samples >= 0 && urls.slice(0, samples).filter((url) => url.includes("/api/")).length <= 4, urls.join("\n"));
    console.log(`  first picture: ${samples + 1} requests, ${firstBytes} bytes of samples, ${Math.round(firstPicture - begun)} ms after the script began`);
    assert.ok((await middle(slices)).some((c) => c > 0));
    await slices.close();
  },
};
