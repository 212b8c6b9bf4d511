// source_worker.ts -- a worker of source_pool.ts.
import type { Order } from "./source_pool.ts";
import { Reader } from "./source_reader.ts";

const reader = new Reader();

self.onmessage = ({ data }: MessageEvent<Order>) => {
  const done = reader.work(data);
  self.postMessage(done, { transfer: done.answer ? [done.answer.body] : [] });
};
