// hands.mjs -- what hands do: fingers, keys, boxes, clicks, buttons.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { base, coloursOf, complete, open, pause, pixelsOf, stateOf, until, wait } from "./kit.mjs";

const numbersIn = (link, key) => new URLSearchParams(link.slice(1)).get(key)?.split(",").map(Number);
const cameraOf = async (page) => numbersIn((await stateOf(page)).link, "camera");
const distanceOf = (camera) => Math.hypot(...[0, 1, 2].map((i) => camera[i] - camera[i + 3]));
const targetOf = (camera) => camera.slice(3);

/** Fingers go from one place each to another, all at once. */
async function swipe(page, paths) {
  const session = await page.context().newCDPSession(page);
  // They are lifted in the order of their numbers: the one that came last goes first.
  const fingers = (part) => paths.map(([x0, y0, x1, y1], i) => ({ id: paths.length - 1 - i, x: x0 + (x1 - x0) * part, y: y0 + (y1 - y0) * part }));
  const send = (type, touchPoints) => session.send("Input.dispatchTouchEvent", { type, touchPoints });
  for (let i = 1; i <= paths.length; i++) await send("touchStart", fingers(0).slice(0, i));
  for (let i = 1; i <= 5; i++) await send("touchMove", fingers(i / 5));
  await send("touchEnd", []);
  await session.detach();
}

/** Relative luminances of text and what is behind it, as WCAG has them; 4.5 can be read. */
const contrasts = () => {
  const canvas = new OffscreenCanvas(1, 1);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const luminance = (colours) => {
    for (const colour of colours) {
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
    }
    const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const low = [];
  for (const element of document.querySelectorAll("button, select, input, output, h2, kbd, strong, .hint, #status span, figcaption, .ends span, label, .row > span")) {
    if (!element.checkVisibility() || element.disabled || !(element.textContent || element.value)) continue;
    const behind = [];
    for (let e = element; e; e = e.parentElement) behind.unshift(getComputedStyle(e).backgroundColor);
    const [a, b] = [luminance(behind), luminance([...behind, getComputedStyle(element).color])].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.push(`${element.localName} '${element.textContent.slice(0, 20)}': ${ratio.toFixed(2)}`);
  }
  return low;
};

/** Controls that a screen reader could not name, and names that two of them have. */
const badNames = () => {
  const out = [];
  const seen = new Set();
  for (const e of document.querySelectorAll("button, select, input, canvas[tabindex]")) {
    const name = e.ariaLabel || e.closest("label")?.textContent.trim() || (e.localName === "button" ? e.textContent.trim() : "");
    if (!name || seen.has(name)) out.push(`${e.localName} '${name}'`);
    seen.add(name);
  }
  return out;
};

export const hands = {
  async "fingers turn, move, and come nearer; a tap tells the value and draws the series"() {
    const page = await open("#run=vortex&grid=flow/density&mode=slices", 390, 700, { hasTouch: true, isMobile: true });
    await complete(page);
    const start = await cameraOf(page);
    const cut = await page.locator("#labels span").evaluateAll((spans) => spans.filter((e) => {
      const { left, right } = e.getBoundingClientRect();
      return left < 0 || right > window.innerWidth;
    }).map((e) => e.textContent));
    assert.deepEqual(cut, [], "labels are whole");
    await swipe(page, [[200, 250, 260, 280]]);
    await until(page, (s) => s.phase === "complete");
    const turned = await cameraOf(page);
    assert.notDeepEqual(turned, start);
    assert.ok(Math.abs(distanceOf(turned) - distanceOf(start)) < 1e-3, "one finger turns at the same distance");
    assert.deepEqual(targetOf(turned), targetOf(start));
    await swipe(page, [[180, 250, 80, 250], [210, 250, 310, 250]]);
    const near = await cameraOf(page);
    assert.ok(distanceOf(near) < 0.8 * distanceOf(turned), "a pinch comes nearer");
    await swipe(page, [[150, 250, 190, 300], [250, 250, 290, 300]]);
    const moved = await cameraOf(page);
    assert.notDeepEqual(targetOf(moved), targetOf(near));
    await page.locator('[data-key="r"]').tap();
    await complete(page);
    // Two fingers that hardly move are no click, where one is.
    await swipe(page, [[120, 330, 121, 330], [195, 330, 196, 330]]);
    await complete(page);
    await pause(300); // in which a click would be answered
    assert.ok(await page.locator("#tip").isHidden());
    assert.equal(await page.locator("#panel .series").count(), 0);
    await page.touchscreen.tap(195, 330);
    await wait(async () => /density \S+ kg/.test(await page.locator("#tip").textContent()));
    assert.ok(await page.locator("#tip").isVisible());
    await page.locator('[data-key="m"]').tap();
    await wait(() => page.locator("#panel .u-wrap canvas").last().isVisible());
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), "nothing is wider than the screen");
    await page.locator('[data-key="m"]').tap();
    // A box by a finger.
    await page.locator('[data-key="z"]').tap();
    await page.locator('[data-key="b"]').tap();
    await until(page, (s) => s.phase === "complete");
    await swipe(page, [[150, 250, 230, 380]]);
    await until(page, (s) => numbersIn(s.link, "box")?.[1] < 1);
    await page.close();
  },

  async "a box is chosen by shift and drag, is in the link, and is undone"() {
    const page = await open("#run=vortex&grid=flow/density&mode=slices&along=z&particles=coal", 900, 600);
    await complete(page);
    const all = (await stateOf(page)).points;
    const { x, y, width, height } = await page.locator("#canvas").boundingBox();
    await page.keyboard.down("Shift");
    await page.mouse.move(x + width / 2 - 60, y + height / 2 - 50);
    await page.mouse.down();
    await page.mouse.move(x + width / 2 + 40, y + height / 2 + 30, { steps: 3 });
    assert.ok(await page.locator("#rubber").isVisible());
    await page.mouse.up();
    await page.keyboard.up("Shift");
    assert.ok(await page.locator("#rubber").isHidden());
    const { link, points } = await until(page, (s) => s.link.includes("box=") && s.phase === "complete" && s.points < all);
    const box = numbersIn(link, "box");
    // The picture is 1.15 times as high as the grid, which is a cube.
    const side = height / 1.15;
    [0.5 - 60 / side, 0.5 + 40 / side, 0.5 - 30 / side, 0.5 + 50 / side, 0, 1].forEach((want, i) => assert.ok(Math.abs(box[i] - want) < 0.005, `${box}: ${want}`));
    assert.equal(Number(await page.getByLabel("Box, x, upper end").inputValue()).toFixed(1), box[1].toFixed(1));
    const again = await open(link, 900, 600);
    const state = await until(again, (s) => s.phase === "complete" && s.points === points);
    assert.equal(state.link, link);
    await again.close();
    await page.keyboard.press("u");
    await until(page, (s) => !s.link.includes("box=") && s.phase === "complete" && s.points === all);
    // Let go over the panel: it is chosen as well.
    await page.keyboard.press("b");
    await page.mouse.move(x + 200, y + 100);
    await page.mouse.down();
    await page.mouse.move(x - 100, y + 300, { steps: 3 });
    await page.mouse.up();
    await until(page, (s) => s.link.includes("box="));
    assert.ok(await page.locator("#rubber").isHidden());
    // Farther and beside along an axis: the link restores that, too.
    await page.keyboard.press("a");
    await page.keyboard.press("Control+ArrowRight");
    await until(page, (s) => numbersIn(s.link, "camera") && s.phase === "complete");
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.wheel(0, -300);
    const zoomed = await until(page, (s) => numbersIn(s.link, "zoom")?.[0] > 1 && numbersIn(s.link, "camera") && s.phase === "complete");
    const third = await open(zoomed.link, 900, 600);
    assert.equal((await complete(third)).link, zoomed.link);
    await third.close();
    await page.close();
  },

  async "a picture is saved as it is seen, with its legend; a click draws a series, and the series goes to a step"() {
    const page = await open("#run=vortex&grid=flow/density&mode=slices&along=z&slices=z40&theme=dark", 700, 600);
    await complete(page);
    const canvas = page.locator("#canvas");
    const { x, y, width, height } = await canvas.boundingBox();
    const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("s")]);
    assert.equal(download.suggestedFilename(), "vortex_20.png");
    const file = readFileSync(await download.path());
    const saved = await pixelsOf(file);
    assert.deepEqual([saved.width, saved.height], [Math.floor(width), Math.floor(height)]);
    assert.ok((await coloursOf(file)) > 50);
    const seen = await pixelsOf(await canvas.screenshot());
    const at = (picture, i, j) => [...picture.data.subarray(4 * (j * picture.width + i), 4 * (j * picture.width + i) + 3)];
    for (const [i, j] of [[0.5, 0.5], [0.4, 0.6], [0.6, 0.4]]) assert.deepEqual(at(saved, Math.floor(i * width), Math.floor(j * height)), at(seen, Math.floor(i * width), Math.floor(j * height)));
    // The series of a sample.
    await page.mouse.click(x + width / 2, y + height / 2);
    const chart = page.locator("#panel .chart .u-over").last();
    await chart.waitFor();
    assert.match(await page.locator("#panel").textContent(), /density \[kg\/m\^3\] at sample 40, \d+, \d+/);
    await chart.scrollIntoViewIfNeeded();
    const place = await chart.boundingBox();
    await page.mouse.move(place.x + place.width / 2 + 5, place.y + 20);
    await page.mouse.click(place.x + place.width / 2, place.y + 20);
    await until(page, (s) => s.step === 10 && s.phase === "complete");
    await page.getByLabel("Close the series").click();
    assert.equal(await chart.count(), 0);
    // The last slice stays; with another one, it can go.
    const [across, along] = ["x", "z"].map((axis) => page.getByLabel(`Slice ${axis}`, { exact: true }));
    assert.ok(await along.isDisabled());
    await across.check();
    await until(page, (s) => s.link.includes("slices=x32,z40") && s.phase === "complete");
    await along.uncheck();
    await until(page, (s) => /slices=x32(&|$)/.test(s.link) && s.phase === "complete");
    assert.ok((await across.isDisabled()) && !(await along.isChecked()));
    await page.close();
  },

  async "all is done by keys, and what has the focus is seen"() {
    const page = await open("#run=vortex&grid=flow/density&particles=coal&colour=T&quality=0.1&theme=dark", 700, 500);
    const { points: all } = await complete(page);
    const start = await cameraOf(page);
    await page.keyboard.press("Shift+ArrowLeft");
    await until(page, (s) => numbersIn(s.link, "camera")[0] !== start[0]);
    const turned = await cameraOf(page);
    assert.ok(Math.abs(distanceOf(turned) - distanceOf(start)) < 1e-3);
    await page.keyboard.press("+");
    await until(page, (s) => distanceOf(numbersIn(s.link, "camera")) < 0.9 * distanceOf(start));
    await page.keyboard.press("Control+ArrowUp");
    await until(page, (s) => numbersIn(s.link, "camera")[5] !== turned[5]);
    await page.keyboard.press("r");
    await until(page, (s) => String(numbersIn(s.link, "camera")) === String(start));
    await page.keyboard.press("Home");
    await until(page, (s) => s.step === 0 && s.phase === "complete");
    const limits = () => page.evaluate(() => ["lower", "upper"].map((end) => Number(document.querySelector(`[aria-label="T, ${end} end"]`)[end === "lower" ? "min" : "max"])));
    const hottest = () => page.evaluate(() => window.bouma.app.set().variables.find((v) => v.name === "T").ranges.flatMap((r) => [r.low, r.high]));
    const atFirst = await limits();
    assert.deepEqual(atFirst, await hottest());
    await page.keyboard.press("End");
    await until(page, (s) => s.step === 20 && s.phase === "complete");
    assert.deepEqual(await limits(), await hottest(), "a filter has the limits of the step");
    assert.notDeepEqual(await limits(), atFirst);
    await page.keyboard.press("i");
    await until(page, (s) => s.link.includes("map=viridis_r"));
    await page.keyboard.press("Control+z");
    await until(page, (s) => !s.link.includes("viridis_r"));
    await page.keyboard.press("?");
    const help = await page.locator("#help").textContent();
    assert.ok(await page.locator("#help").isVisible());
    // Every key that a button names is in the list.
    for (const key of await page.locator("header [data-key]").evaluateAll((buttons) => buttons.map((b) => b.dataset.key)))
      assert.ok((await page.locator("#keys kbd").allTextContents()).some((text) => text.split(/[ ,;]+/).includes(key)), `${key}: ${help}`);
    assert.deepEqual(await page.evaluate(contrasts), [], "dark");
    await page.keyboard.press("Escape");
    assert.ok(await page.locator("#help").isHidden());
    // With the focus in the picture, enter asks for the sample in its middle.
    await page.keyboard.press("Enter");
    await wait(() => page.locator("#tip").isVisible());
    // Tab reaches every control, each of them shows it, and each has a name of its own.
    assert.deepEqual(await page.evaluate(badNames), []);
    const wanted = await page.evaluate(() => [...document.querySelectorAll("button, select, input, canvas[tabindex]")].filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled).length);
    const reached = new Set();
    for (let i = 0; i < wanted + 5; i++) {
      await page.keyboard.press("Tab");
      const [name, outlined] = await page.evaluate(() => {
        const e = document.activeElement;
        return [e === document.body ? "" : e.ariaLabel || e.closest("label")?.textContent || e.textContent, e === document.body || parseFloat(getComputedStyle(e).outlineWidth) > 0];
      });
      assert.ok(outlined, `${name} does not show the focus`);
      if (name) reached.add(name);
    }
    assert.equal(reached.size, wanted, [...reached].join("; "));
    // A choice in the panel keeps the focus, although the panel is built anew.
    await page.getByLabel("Colours", { exact: true }).focus();
    await page.keyboard.press("m"); // to "magma"
    await until(page, (s) => s.link.includes("map=magma"));
    assert.equal(await page.evaluate(() => document.activeElement.ariaLabel), "Colours");
    // What is typed stays while steps come and go.
    const low = page.getByLabel("Range, lower end");
    await low.focus();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("0.25");
    await page.evaluate(() => window.bouma.app.go(-1));
    await until(page, (s) => s.step === 10 && s.phase === "complete");
    assert.equal(await low.inputValue(), "0.25");
    await page.keyboard.press("Enter");
    await until(page, (s) => numbersIn(s.link, "range")?.[0] === 0.25);
    // A filter by keys, and back.
    await page.getByLabel("T, upper end").focus();
    for (let i = 0; i < 5; i++) await page.keyboard.press("PageDown");
    await until(page, (s) => s.link.includes("where=T:") && s.phase === "complete" && s.points < all);
    await page.getByLabel("All values of T").press("Enter");
    await until(page, (s) => !s.link.includes("where=") && s.phase === "complete" && s.points === all);
    // Points of the opacity curve.
    await page.getByLabel("Opacity").focus();
    for (const key of ["Enter", "+", "ArrowUp", "ArrowUp"]) await page.keyboard.press(key);
    await until(page, (s) => (new URLSearchParams(s.link.slice(1)).get("opacity") ?? "").split(",").length === 4);
    await page.close();
  },

  async "light and dark: what the system says, and what the button says"() {
    const page = await open("#run=vortex&particles=coal&colour=T&quality=0.1", 700, 500, { colorScheme: "light", permissions: ["clipboard-read", "clipboard-write"] });
    await complete(page);
    const corner = async () => (await pixelsOf(await page.locator("#canvas").screenshot())).data.subarray(0, 3).join();
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    assert.equal(await theme(), "light");
    assert.equal(await corner(), "255,255,255");
    assert.deepEqual(await page.evaluate(contrasts), [], "light");
    await page.emulateMedia({ colorScheme: "dark" });
    await wait(async () => (await theme()) === "dark" && (await corner()) === "20,22,26");
    await page.locator('[data-key="t"]').click();
    await wait(async () => (await theme()) === "light" && (await corner()) === "255,255,255");
    await page.emulateMedia({ colorScheme: "light" });
    await page.emulateMedia({ colorScheme: "dark" });
    assert.equal(await theme(), "light", "what was chosen stays");
    const { link } = await until(page, (s) => s.link.includes("theme=light"));
    // The link is copied, and is in the address.
    await page.locator('[data-key="l"]').click();
    await wait(() => page.locator("#note").isVisible());
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), base() + link);
    assert.equal(await page.evaluate(() => location.hash), link);
    await page.close();
  },
};
