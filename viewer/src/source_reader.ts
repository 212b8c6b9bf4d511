// source_reader.ts -- what a worker of source_pool.ts does: fetch parts of files, and answer as a
// server. It has one dataset at a time, and all it does is done when a call returns.
import { Answers, HttpSource } from "../../wasm/bouma.js";
import type { Done, Order } from "./source_pool.ts";

const blockBytes = 1 << 16;
const cacheBytes = 1 << 25;

export class Reader {
  private source: HttpSource | null = null;
  private answers: Answers | null = null;
  private told = 0; // bytes

  private answer({ site, module, blocks, target }: Order): Done["answer"] {
    if (site) {
      this.answers = null;
      this.source = new HttpSource(site.url, site, { blockBytes, cacheBytes, needsRanges: true });
      this.told = 0;
      this.answers = new Answers(module!, this.source, site.name);
    }
    this.source!.give(blocks);
    return this.answers!.get(target);
  }

  work(order: Order): Done {
    const done: Done = { broken: false, bytes: 0, blocks: [] };
    try {
      done.answer = this.answer(order);
    } catch (error) {
      const { message, retry } = error as { message: string; retry?: boolean };
      done.error = { message, retry: retry ?? false };
    }
    done.broken = this.answers?.isBroken ?? true;
    done.bytes = (this.source?.bytes ?? 0) - this.told;
    done.blocks = this.source?.take() ?? [];
    this.told += done.bytes;
    return done;
  }
}
