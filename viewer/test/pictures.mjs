// pictures.mjs BUILD -- take the pictures of the viewer in docs/pictures anew: look_*.png.
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { begin, complete, end, make, open, pause, wait } from "./kit.mjs";

const into = join(dirname(fileURLToPath(import.meta.url)), "../../docs/pictures");

async function take(name, hash, width, height, prepare = async () => {}, options = {}) {
  const page = await open(hash, width, height, options);
  await complete(page);
  await prepare(page);
  await complete(page);
  await page.evaluate(() => document.activeElement.blur());
  await pause(500); // charts and tips
  writeFileSync(join(into, `${name}.png`), await page.screenshot());
  await page.close();
}

try {
  make("plume");
  await begin();
  await take("look_volume", "#run=plume&grid=flow/density&map=magma&range=0,1.3&opacity=0:0,0.12:0,0.45:0.2,1:0.9&theme=dark", 1000, 640);
  await take("look_slices", "#run=plume&step=20&grid=flow/density&mode=slices&theme=light", 1000, 640, async (page) => {
    await page.mouse.click(640, 330);
    await page.locator("#panel .chart .u-over").waitFor();
    await page.mouse.move(642, 332);
    await wait(() => page.locator("#tip").isVisible());
  });
  await take("look_particles", "#run=plume&particles=coal&colour=T&where=T:700:1100&size=1.3&theme=dark", 1000, 640);
  await take("look_phone", "#run=plume&grid=flow/density&map=magma&range=0,1.3&opacity=0:0,0.12:0,0.45:0.2,1:0.9&theme=dark", 390, 700, undefined, { hasTouch: true, isMobile: true });
} finally {
  await end();
}
