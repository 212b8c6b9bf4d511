// run.mjs -- bundle the tests of what needs no browser, and run them: node --test.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "../bundle.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const out = mkdtempSync(join(tmpdir(), "viewer-test-"));
const tests = readdirSync(here).filter((name) => name.endsWith(".test.ts"));
const made = await bundle({ entryPoints: tests.map((name) => join(here, name)), outdir: out, platform: "node", outExtension: { ".js": ".mjs" } });
for (const file of made.outputFiles) writeFileSync(join(out, basename(file.path)), file.contents);
const result = spawnSync(process.execPath, ["--test", ...tests.map((name) => join(out, name.replace(/ts$/, "mjs")))], { stdio: "inherit" });
rmSync(out, { recursive: true });
process.exit(result.status ?? 1);
