// source_pool.ts -- workers that read a dataset, and what waits for them. One works on one request
// at a time; what is not wanted any more before it is begun is dropped.
import type { Answer, Block, Files } from "../../wasm/bouma.js";

/** A dataset below a URL; another key is another dataset, or another state of it. */
export interface Site extends Files {
  key: string;
  name: string;
  url: string;
}
/** What a worker is told: another site to read, what others have fetched of it, what is asked. */
export interface Order {
  site?: Site;
  module?: WebAssembly.Module;
  blocks: Block[];
  target: string;
}
export interface Done {
  answer?: Answer;
  error?: { message: string; retry: boolean };
  broken: boolean; // it must be given the site again
  bytes: number; // that were fetched
  blocks: Block[];
}
/** What is used of a worker. */
export interface Hand {
  postMessage(order: Order): void;
  onmessage: ((event: { data: Done }) => void) | null;
  onerror: ((event: { message?: string }) => void) | null;
}

/** No answer; whether it is worth asking again. */
export class NoAnswer extends Error {
  constructor(message: string, readonly retry: boolean) {
    super(message);
  }
}

interface Helper {
  hand: Hand;
  key: string | null; // of the site that it has
  given: number; // how many of the shared blocks it knows
  job: Job | null;
}
interface Job {
  site: Site;
  target: string;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/** Workers tell each other what they fetch first, which all need: indices and heads of files. */
const mostShared = 1 << 24;

export class Pool {
  bytes = 0;
  private shared = { key: "", bytes: 0, blocks: [] as { from: Helper; block: Block }[] };
  private readonly helpers: Helper[] = [];
  private readonly queue: Job[] = [];

  constructor(private readonly module: WebAssembly.Module, private readonly make: () => Hand, private readonly most: number) {}

  ask(site: Site, target: string, signal?: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const job: Job = { site, target, resolve, reject };
      const drop = () => {
        const place = this.queue.indexOf(job);
        if (place >= 0) this.queue.splice(place, 1);
        reject(signal!.reason);
      };
      if (signal?.aborted) return drop();
      signal?.addEventListener("abort", drop, { once: true });
      this.queue.push(job);
      this.pump();
    });
  }

  /** Those under way and those that wait. */
  get load(): number {
    return this.queue.length + this.helpers.filter((helper) => helper.job).length;
  }

  private idle(key: string): Helper | null {
    const free = this.helpers.filter((helper) => !helper.job);
    const knows = free.find((helper) => helper.key === key);
    if (knows) return knows;
    return this.helpers.length < this.most ? this.start() : free[0] ?? null;
  }

  private start(): Helper {
    const helper: Helper = { hand: this.make(), key: null, given: 0, job: null };
    helper.hand.onmessage = ({ data }) => this.hear(helper, data);
    helper.hand.onerror = ({ message }) => this.lose(helper, message || "a worker cannot be started");
    this.helpers.push(helper);
    return helper;
  }

  private pump(): void {
    while (this.queue.length) {
      const helper = this.idle(this.queue[0].site.key);
      if (!helper) return;
      this.give(helper, this.queue.shift()!);
    }
  }

  private give(helper: Helper, job: Job): void {
    const { key } = job.site;
    if (this.shared.key !== key) {
      this.shared = { key, bytes: 0, blocks: [] };
      for (const each of this.helpers) each.given = 0;
    }
    const knows = helper.key === key;
    const news = this.shared.blocks.slice(knows ? helper.given : 0).filter(({ from }) => !knows || from !== helper);
    helper.job = job;
    helper.key = key;
    helper.given = this.shared.blocks.length;
    helper.hand.postMessage({ ...(knows ? {} : { site: job.site, module: this.module }), blocks: news.map(({ block }) => block), target: job.target });
  }

  private hear(helper: Helper, done: Done): void {
    const job = helper.job!;
    helper.job = null;
    this.bytes += done.bytes;
    for (const block of job.site.key === this.shared.key ? done.blocks : []) {
      if (this.shared.bytes + block[1].length > mostShared) break;
      this.shared.blocks.push({ from: helper, block });
      this.shared.bytes += block[1].length;
    }
    if (done.broken) helper.key = null;
    if (done.answer) job.resolve(done.answer);
    else job.reject(new NoAnswer(done.error!.message, done.error!.retry));
    this.pump();
  }

  private lose(helper: Helper, message: string): void {
    this.helpers.splice(this.helpers.indexOf(helper), 1);
    helper.job?.reject(new NoAnswer(message, false));
    helper.job = null;
    this.pump();
  }
}
