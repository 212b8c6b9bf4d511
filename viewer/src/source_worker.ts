// source_worker.ts -- a worker of source_pool.ts: it fetches parts of files, and answers as a server.
import { Answers, HttpSource } from "../../wasm/bouma.js";
import type { Done, Order } from "./source_pool.ts";

const blockBytes = 1 << 16;
const cacheBytes = 1 << 25;

let source: HttpSource | null = null;
let answers: Answers | null = null;
let before = 0; // bytes that were told

function work({ site, module, blocks, target }: Order): Done["answer"] {
  if (site) {
    answers = null;
    source = new HttpSource(site.url, site, { blockBytes, cacheBytes, needsRanges: true });
    before = 0;
    answers = new Answers(module!, source, site.name);
  }
  source!.give(blocks);
  return answers!.get(target);
}

self.onmessage = ({ data }: MessageEvent<Order>) => {
  const done: Done = { broken: false, bytes: 0, blocks: [] };
  try {
    done.answer = work(data);
  } catch (error) {
    const { message, retry } = error as { message: string; retry?: boolean };
    done.error = { message, retry: retry ?? false };
  }
  done.broken = answers?.isBroken ?? true;
  done.bytes = (source?.bytes ?? 0) - before;
  done.blocks = source?.take() ?? [];
  before += done.bytes;
  self.postMessage(done, { transfer: done.answer ? [done.answer.body] : [] });
};
