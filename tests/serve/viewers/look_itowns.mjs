// look_itowns.mjs SITE TILES CHROMIUM -- open point tiles on the page of build_itowns.mjs, and print its points and errors.
import { chromium } from "playwright-core";

const [site, tiles, executablePath] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage();
const errors = [];
page.on("pageerror", (error) => errors.push(String(error)));
page.on("requestfailed", (request) => errors.push(request.url()));
await page.goto(`${site}/app/index.html`);
await page.waitForFunction(() => window.isReady, null, { timeout: 0 });
page.setDefaultTimeout(0);
const found = await page.evaluate((url) => window.readTiles(url), tiles);
console.log(JSON.stringify({ ...found, errors }));
await browser.close();
