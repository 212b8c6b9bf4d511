// odd.mjs -- datasets and servers as they should not be, or seldom are: empty, huge, oddly named,
// below a token, with steps that go away.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { base, coloursOf, complete, make, open, run, serve, stop, until, wait, work } from "./kit.mjs";

export const odd = {
  async "names are texts, whatever they contain; 200 variables are no burden"() {
    make("wide");
    const page = await open("", 900, 700);
    let histograms = 0;
    page.on("request", (request) => (histograms += request.url().includes("/histogram")));
    await page.evaluate(() => (window.hit = () => (window.wasHit = true)));
    await complete(page);
    // The dataset came after the server: it is found when one looks for it.
    await page.getByLabel("Dataset").focus();
    await wait(async () => (await page.getByLabel("Dataset").textContent()).includes("wide <i>&"));
    await page.getByLabel("Dataset").selectOption("wide <i>&");
    await until(page, (s) => s.run === "wide <i>&" && s.phase === "complete");
    const names = await page.getByLabel("Variable").locator("option").allTextContents();
    assert.equal(names.length, 201);
    assert.ok(names.includes("<i>grid/<img src=x onerror=hit()>"));
    assert.match(await page.locator("#legend").textContent(), /<img src=x onerror=hit\(\)> \[<s>K<\/s>\]/);
    assert.equal(await page.title(), "wide <i>& - bouma");
    await page.locator("#canvas").focus();
    await page.keyboard.press("4");
    await page.keyboard.press("z");
    await until(page, (s) => s.link.includes("along=z") && s.phase === "complete");
    await page.keyboard.press("Enter");
    await wait(async () => /<img src=x onerror=hit\(\)> [\d.]+ <s>K/.test(await page.locator("#tip").textContent()));
    // Particles: coloured and filtered by variables with commas and quotes; each name by a link, too.
    await page.getByLabel("Particles").selectOption("swarm & co");
    for (const name of ["a, b", "it's", 'say "hi"', "100 %", "x".repeat(200)]) {
      await page.getByLabel("Coloured by").selectOption(name);
      await page.getByLabel("Filter by").selectOption(name);
      await page.getByLabel(`${name}, lower end`, { exact: true }).fill("0.5");
      const { points, link } = await until(page, (s) => s.link.includes("where=") && s.phase === "complete" && s.points < 500);
      assert.ok(points > 150 && points < 350, `${name}: ${points}`);
      const again = new URL(link, base()).hash;
      await page.evaluate((hash) => (location.hash = hash), again);
      await until(page, (s) => s.link === link && s.phase === "complete" && s.points === points);
      await page.getByLabel(`All values of ${name}`, { exact: true }).click();
      await until(page, (s) => s.phase === "complete" && s.points === 500);
    }
    assert.ok(histograms < 30, `${histograms} histograms were asked for`);
    assert.equal(await page.evaluate(() => window.wasHit), undefined);
    assert.equal(await page.locator("img, #panel b, #panel i, #legend s, #tip s").count(), 0);
    // Nothing is wider than its place.
    assert.ok(await page.evaluate(() => document.getElementById("panel").scrollWidth <= document.getElementById("panel").clientWidth && document.documentElement.scrollWidth <= window.innerWidth));
    await page.close();
  },

  async "5,000 steps: the slider, keys, and a series"() {
    make("long");
    const page = await open("#run=long&mode=slices&slices=z2&along=z", 700, 600);
    assert.equal((await complete(page)).step, 4999);
    await page.locator("#slider").fill("1234");
    await until(page, (s) => s.step === 1234 && s.phase === "complete");
    assert.match(await page.locator("#now").textContent(), /step 1234, t = 617/);
    await page.locator("#canvas").focus();
    await page.keyboard.press("ArrowRight");
    await until(page, (s) => s.step === 1235 && s.phase === "complete");
    await page.keyboard.press("Enter");
    await page.locator("#panel .chart .u-over").last().waitFor();
    assert.match(await page.locator("#panel").textContent(), /every 10 steps/);
    await page.close();
  },

  async "an empty dataset says so; particles alone; several datasets"() {
    make("empty");
    make("dust");
    const page = await open("#run=empty", 700, 600);
    assert.match((await until(page, (s) => s.message)).message, /'empty' has no steps yet/);
    await page.getByLabel("Dataset").selectOption("dust");
    // Its last step has no particles.
    const last = await until(page, (s) => s.run === "dust" && s.phase === "complete");
    assert.equal(last.points, 0);
    assert.equal(last.message, null);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Home");
    await until(page, (s) => s.step === 0 && s.phase === "complete" && s.points === 2000);
    assert.match(await page.locator("#shown").textContent(), /ice: 2.000 of 2.000, quality 1/);
    assert.match(await page.locator("#legend").textContent(), /mass \[g\]/);
    await page.getByLabel("Dataset").selectOption("vortex");
    const { link } = await until(page, (s) => s.run === "vortex" && s.phase === "complete");
    assert.ok(!link.includes("colour=") && !link.includes("ice"), link);
    await page.evaluate(() => (location.hash = "#run=vortex&grid=flow/nothing"));
    assert.match((await until(page, (s) => s.message)).message, /has no 'flow\/nothing'/);
    await page.getByLabel("Variable").selectOption("flow/density");
    await until(page, (s) => s.phase === "complete" && s.message === null);
    await page.close();
  },

  async "where there is no dataset yet, the first one is shown when it comes"() {
    const directory = join(work, "later");
    mkdirSync(directory);
    const server = await serve({ directory });
    const page = await open("", 500, 400, { from: server.base });
    assert.match((await until(page, (s) => s.message)).message, /no dataset yet/);
    make("dust", directory);
    await until(page, (s) => s.run === "dust" && s.phase === "complete" && s.message === null);
    await page.close();
    await stop(server);
  },

  async "a link to a step that is not there shows the one before, and says so"() {
    const page = await open("#run=vortex&step=15&grid=flow/density&mode=slices", 500, 400);
    await wait(async () => /There is no step 15; this is step 10/.test(await page.locator("#note").textContent()));
    assert.equal((await complete(page)).step, 10);
    await page.close();
  },

  async "two axes: seen from above, a box of two axes, and particles lie on the grid"() {
    make("sheet");
    const page = await open("#run=sheet&grid=water/height", 500, 400);
    assert.match((await complete(page)).link, /along=z/);
    assert.equal(await page.getByLabel("Box, y, lower end").count(), 1);
    assert.equal(await page.getByLabel("Box, z, lower end").count(), 0);
    await page.close();
    const both = await open("#run=sheet&grid=water/height&particles=floats&colour=age&bare=1", 500, 400);
    await until(both, (s) => s.phase === "complete" && s.points === 500);
    const colours = await coloursOf(await both.screenshot());
    assert.ok(colours > 30, `${colours} colours`);
    await both.close();
  },

  async "a step that is deleted while it is shown gives way to the one before"() {
    make("dust", join(work, "gone"));
    const server = await serve({ directory: join(work, "gone") });
    const page = await open("#run=dust&step=1", 500, 400, { from: server.base });
    await until(page, (s) => s.step === 1 && s.phase === "complete");
    run("delete-step", join(work, "gone", "dust.bouma"), "1");
    await until(page, (s) => s.step === 0 && s.phase === "complete" && String(s.steps) === "0,2");
    assert.match(await page.locator("#note").textContent(), /Step 1 was deleted/);
    run("delete-step", join(work, "gone", "dust.bouma"), "2");
    run("delete-step", join(work, "gone", "dust.bouma"), "0");
    const state = await until(page, (s) => s.steps.length === 0 && /no steps yet/.test(s.message));
    assert.equal(state.points, 0);
    await page.close();
    await stop(server);
  },

  async "below a token: links have it, and a server with another one is explained"() {
    const token = "a-secret-of-12";
    const server = await serve({ options: ["--token", token] });
    assert.ok(server.base.endsWith(`/t/${token}/`), server.base);
    const page = await open("#run=vortex&grid=flow/density&mode=slices", 700, 500, { from: server.base, permissions: ["clipboard-read", "clipboard-write"] });
    await complete(page);
    await page.keyboard.press("z");
    await page.keyboard.press("l");
    await wait(() => page.locator("#note").isVisible());
    assert.match(await page.locator("#note").textContent(), /token/);
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.ok(link.startsWith(`${server.base}#run=vortex`), link);
    const again = await open("", 700, 500, { from: link });
    await until(again, (s) => s.phase === "complete" && s.link.includes("along=z"));
    await again.close();
    // The token as a parameter leads there, too, and what the page loads has it.
    const asked = await open(`#run=vortex&grid=flow/density&mode=slices`, 300, 200, { from: `${new URL(server.base).origin}/?token=${token}` });
    await complete(asked);
    assert.ok(asked.url().startsWith(`${server.base}#run=vortex`), asked.url());
    await asked.close();
    await stop(server);
    await until(page, (s) => !s.connected);
    const other = await serve({ port: server.port, options: ["--token", "another-secret"] });
    await page.keyboard.press("ArrowLeft");
    assert.match((await until(page, (s) => s.connected && s.message)).message, /token/);
    await page.close();
    await stop(other);
  },
};
