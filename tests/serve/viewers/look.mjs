// look.mjs SITE DATA CHROMIUM -- show states of neuroglancer, given as lines of JSON, and print what each has asked for, the
// values at its position, and how many pixels are yellow, the colour of annotations.
import { chromium } from "playwright-core";
import { createInterface } from "node:readline";

const [site, data, executablePath] = process.argv.slice(2);
const args = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
const browser = await chromium.launch({ executablePath, args });
const page = await browser.newPage({ viewport: { width: 500, height: 400 } });
const asked = [];
const errors = [];
page.context().on("response", (r) => r.url().startsWith(data) && asked.push([r.status(), decodeURIComponent(r.url().slice(data.length))]));
page.on("pageerror", (error) => errors.push(String(error)));

function valuesHere() {
  const layers = viewer.layerManager.managedLayers.flatMap((one) => one.layer.renderLayers);
  return layers.map((one) => (one.getValueAt ? one.getValueAt(viewer.position.value) : null)).filter((one) => one !== null);
}

async function countYellow(picture) {
  const image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data: pixels } = context.getImageData(0, 60, image.width, image.height - 60);
  let count = 0;
  for (let i = 0; i < pixels.length; i += 4) count += pixels[i] > 200 && pixels[i + 1] > 200 && pixels[i + 2] < 60;
  return count;
}

for await (const line of createInterface({ input: process.stdin })) {
  asked.length = errors.length = 0;
  await page.goto("about:blank");
  await page.goto(`${site}/app/index.html#!${encodeURIComponent(line)}`);
  await page.waitForFunction(() => window.viewer?.isReady() && viewer.layerManager.managedLayers.every((one) => one.isReady()), null, { timeout: 0 });
  const values = await page.evaluate(valuesHere);
  const picture = (await page.screenshot()).toString("base64");
  console.log(JSON.stringify({ asked, errors, values, yellow: await page.evaluate(countYellow, picture) }));
}
await browser.close();
