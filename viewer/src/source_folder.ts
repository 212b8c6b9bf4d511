// source_folder.ts -- the source of data that is a folder on a web server, which sends parts of
// files and knows nothing else. Workers read them, and answer as the program would: docs/http.md.
import { notReached, rangeProblem, totalOf } from "../../wasm/bouma.js";
import { ApiError, patience, Server } from "./api.ts";
import { numberOf, type Listener } from "./source.ts";
import { NoAnswer, Pool, type Hand, type Site } from "./source_pool.ts";

interface Entry {
  name: string;
  url: string;
  files: Record<string, number>;
  steps: number[];
  times: (number | string | null)[];
}
export interface Listing {
  listing: number;
  datasets: Entry[];
}
/** What a folder is read with, other than by requests. */
export interface Tools {
  module(): Promise<WebAssembly.Module>;
  hand(): Hand;
  most: number;
}

const lookSeconds = 10;

/** The list of steps of a dataset of which nothing but its entry is known. */
function timesOf(entry: Entry): number[] {
  return entry.times.map(numberOf);
}

export class Folder extends Server {
  private listing: Promise<Listing> | null = null;
  private pool: Promise<Pool> | null = null;
  private fetchedBy: Pool | null = null;
  private readonly sites = new Map<string, Promise<Site>>();

  /** 'href' is that of the listing. */
  constructor(private readonly href: string, tell: (there: boolean) => void, private readonly tools: Tools) {
    super(new URL(".", href).href, tell);
  }

  override bytes(): number {
    return this.fetchedBy?.bytes ?? 0;
  }

  private async load(): Promise<Listing> {
    let answer: Response;
    try {
      answer = await fetch(this.href, { cache: "no-cache" });
    } catch {
      throw notReached(this.href, globalThis.location?.href);
    }
    if (!answer.ok) throw new ApiError(answer.status, `${this.href}: the web server answers ${answer.status}; 'bouma serve --static' writes this file`);
    const listing = (await answer.json().catch(() => null)) as Listing | null;
    if (listing?.listing !== 1) throw new ApiError(0, `${this.href}: this is no listing that this page can read; write the folder anew by 'bouma serve --static'`);
    return listing;
  }

  private list(): Promise<Listing> {
    this.listing ??= this.load().catch((error) => {
      this.listing = null;
      throw error;
    });
    return this.listing;
  }

  override async runs(): Promise<string[]> {
    for (let i = 0; ; i++)
      try {
        const { datasets } = await this.list();
        this.hear(true);
        return datasets.map(({ name }) => name);
      } catch (error) {
        if (error instanceof ApiError) throw error;
        this.hear(false);
        await new Promise((resolve) => setTimeout(resolve, patience(i)));
      }
  }

  /** Look whether ranges can be had, before a whole file comes in place of one. */
  private async probe(site: Site): Promise<Site> {
    const [file, size] = Object.entries(site.files).reduce((a, b) => (b[1] > a[1] ? b : a), ["DATASET", 0]);
    const url = site.url + file.split("/").map(encodeURIComponent).join("/");
    const stop = new AbortController();
    let answer: Response;
    try {
      answer = await fetch(`${url}?${size}`, { headers: { Range: "bytes=0-0" }, signal: stop.signal });
    } catch {
      const problem = notReached(url, globalThis.location?.href);
      // Where the page comes from is reached: another place may never be.
      if (new URL(url).origin !== new URL(this.base).origin) throw new ApiError(0, problem.message);
      throw problem;
    }
    stop.abort();
    const problem = rangeProblem(url, { status: answer.status, total: totalOf(answer.headers.get("Content-Range")) }, 0, 1, size);
    if (problem && !problem.retry) throw new ApiError(answer.status, problem.message);
    if (problem) throw problem;
    return site;
  }

  private siteOf(entry: Entry): Promise<Site> {
    const key = JSON.stringify(entry);
    let site = this.sites.get(entry.name);
    if (!site) {
      site = this.probe({ key, name: entry.name, url: new URL(entry.url, this.href).href, files: entry.files });
      this.sites.set(entry.name, site);
      site.catch(() => this.sites.delete(entry.name));
    }
    return site;
  }

  private start(): Promise<Pool> {
    this.pool ??= this.tools.module().then(
      (module) => (this.fetchedBy = new Pool(module, () => this.tools.hand(), this.tools.most)),
      (error) => {
        this.pool = null;
        throw error;
      });
    return this.pool;
  }

  protected override async ask(path: string, signal?: AbortSignal): Promise<Response> {
    const name = decodeURIComponent(path.split(/[/?]/)[2]);
    const entry = (await this.list()).datasets.find((dataset) => dataset.name === name);
    if (!entry) throw new ApiError(404, `there is no dataset '${name}' in the listing`);
    const [site, pool] = await Promise.all([this.siteOf(entry), this.start()]);
    try {
      const { code, headers, body } = await pool.ask(site, `/${path}`, signal);
      const answer = new Response(body, { status: code, headers });
      if (code !== 503) return answer;
      throw new ApiError(code, ((await answer.json()) as { error: { message: string } }).error.message); // of this page's memory
    } catch (error) {
      if (error instanceof NoAnswer && !error.retry) throw new ApiError(500, error.message);
      throw error;
    }
  }

  /** Look at the listing again now and then: who writes it anew tells of new steps by that. */
  override follow(run: string, listener: Listener): () => void {
    const timer = setInterval(() => void this.look(run, listener).catch(() => undefined), lookSeconds * 1000);
    return () => clearInterval(timer);
  }

  /** Whether there was something new. */
  async look(run: string, listener: Listener): Promise<boolean> {
    const find = (listing: Listing) => listing.datasets.find(({ name }) => name === run);
    const [before, now] = [find(await this.list()), await this.load()];
    const entry = find(now);
    this.listing = Promise.resolve(now);
    if (!entry || JSON.stringify(entry) === JSON.stringify(before)) return false;
    this.sites.delete(run);
    listener.steps(entry.steps, timesOf(entry));
    return true;
  }
}
