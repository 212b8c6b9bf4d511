// api.ts -- the source of data that is a server: docs/http.md.
import { numberOf } from "./source.ts";
import type { Columns, FloatsRequest, Histogram, Listener, ParticlesRequest, PatchRanges, Run, Samples, SamplesRequest, Series, Source, Step, Which } from "./source.ts";

/** The server understood, and says no: there is no use in asking again. */
export class ApiError extends Error {
  constructor(readonly code: number, message: string) {
    super(message);
  }
}

const part = encodeURIComponent;

export function query(parameters: Record<string, string | number | undefined>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== "");
  return given.length ? "?" + given.map(([name, value]) => `${name}=${part(String(value))}`).join("&") : "";
}

/** A name in a list of names: in quotes, if it has a comma. */
export function inList(name: string): string {
  return !name.includes(",") ? name : name.includes("'") ? `"${name}"` : `'${name}'`;
}

export function boxText(box: readonly [number, number][]): string {
  return box.map(([low, high]) => `${low}:${high}`).join(",");
}

/** Columns begin at multiples of 8 bytes. */
export function splitColumns(names: string, count: number, body: ArrayBuffer): Columns {
  const columns: Columns["columns"] = new Map();
  let offset = 0;
  for (const column of names.split(",").filter(Boolean)) {
    const fields = column.split(":");
    const components = Number(fields.pop());
    const type = fields.pop();
    if (type !== "f32") throw new Error(`column ${column} is not f32`);
    columns.set(decodeURIComponent(fields.join(":")), { components, data: new Float32Array(body, offset, count * components) });
    offset = Math.ceil((offset + 4 * count * components) / 8) * 8;
  }
  return { count, columns };
}

/** How long to wait before attempt number 'i', in milliseconds. */
export function patience(i: number): number {
  return Math.min(250 * 2 ** i, 4000);
}

export class Server implements Source {
  private fetched = 0;
  private lost = false;

  /** 'base' ends in a slash. 'tell' hears when the server is gone, and when it is back. */
  constructor(protected readonly base: string, private readonly tell: (there: boolean) => void) {}

  /** Who answers. What is thrown, but an ApiError, is a reason to ask again. */
  protected ask(path: string, signal?: AbortSignal): Promise<Response> {
    return fetch(this.base + path, { signal });
  }

  bytes(): number {
    return this.fetched;
  }

  protected hear(there: boolean): void {
    if (this.lost !== there) return;
    this.lost = !there;
    this.tell(there);
  }

  /** An answer; while there is none, ask again. */
  private async get(path: string, signal?: AbortSignal): Promise<Response> {
    for (let i = 0; ; i++) {
      signal?.throwIfAborted();
      let answer: Response | null = null;
      try {
        answer = await this.ask(path, signal);
        if (answer.status !== 503) this.hear(true);
      } catch (error) {
        if (error instanceof ApiError || signal?.aborted) throw error;
        this.hear(false);
      }
      if (answer?.ok) return answer;
      if (answer && answer.status !== 503) {
        const body = await answer.json().catch(() => null);
        throw new ApiError(answer.status, body?.error?.message ?? `${answer.status} ${answer.statusText}`);
      }
      await new Promise((resolve) => setTimeout(resolve, patience(i)));
      signal?.throwIfAborted();
    }
  }

  private async json<T>(path: string): Promise<T> {
    const answer = await this.get(path);
    return (await answer.json()) as T;
  }

  private async binary(path: string, signal?: AbortSignal): Promise<[Headers, ArrayBuffer]> {
    for (;;) {
      const answer = await this.get(path, signal);
      try {
        const body = await answer.arrayBuffer();
        this.fetched += Number(answer.headers.get("Content-Length") ?? body.byteLength);
        return [answer.headers, body];
      } catch {
        signal?.throwIfAborted();
        this.hear(false); // it went away in the middle
      }
    }
  }

  async runs(): Promise<string[]> {
    const root = await this.json<{ datasets: { name: string }[] }>("api/v1");
    return root.datasets.map((dataset) => dataset.name);
  }

  run(name: string): Promise<Run> {
    return this.json<Run>(`api/v1/${part(name)}`);
  }

  step(run: string, step: number | "last"): Promise<Step> {
    return this.json<Step>(`api/v1/${part(run)}/${step}`);
  }

  private path(which: Which, rest: string): string {
    return `api/v1/${part(which.run)}/${which.step}/${part(which.object)}/${rest}`;
  }

  async samples(r: SamplesRequest, signal?: AbortSignal): Promise<Samples> {
    const parameters = { box: boxText(r.box), level: r.level, type: "u8", low: r.low, high: r.high, component: r.component, tag: r.tag };
    const [headers, body] = await this.binary(this.path(r, `${part(r.variable)}/samples`) + query(parameters), signal);
    const error = headers.get("Bouma-Error");
    return {
      shape: (headers.get("Bouma-Shape") ?? "").split(",").map(Number),
      data: new Uint8Array(body),
      error: error === null ? null : Number(error),
    };
  }

  async floats(r: FloatsRequest): Promise<Float32Array> {
    const parameters = { box: boxText(r.box), level: r.level, type: "f32", component: r.component, tag: r.tag };
    const [, body] = await this.binary(this.path(r, `${part(r.variable)}/samples`) + query(parameters));
    return new Float32Array(body);
  }

  async ranges(which: Which, variable: string, component: number): Promise<PatchRanges | null> {
    try {
      const [headers, body] = await this.binary(this.path(which, `${part(variable)}/ranges`) + query({ component, tag: which.tag }));
      return { shape: (headers.get("Bouma-Shape") ?? "").split(",").map(Number).slice(0, -1), pairs: new Float32Array(body) };
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) return null;
      throw error;
    }
  }

  async value(which: Which, variable: string, component: number, at: number[]): Promise<number> {
    const box = at.map((i) => [i, i + 1] as [number, number]);
    return (await this.floats({ ...which, variable, component, level: 0, box }))[0];
  }

  async particles(r: ParticlesRequest): Promise<Columns> {
    const variables = r.variables.map(inList).join(",");
    const parameters = {
      from: r.from, quality: r.quality, variables, type: "f32", origin: r.origin.join(","),
      box: r.box ? boxText(r.box) : "", where: r.where, tag: r.tag,
    };
    const [headers, body] = await this.binary(this.path(r, "particles") + query(parameters));
    return splitColumns(headers.get("Bouma-Columns") ?? "", Number(headers.get("Bouma-Count")), body);
  }

  async histogram(which: Which, variable: string, component: number, bins: number, where: string): Promise<Histogram | null> {
    try {
      return await this.json<Histogram>(this.path(which, `${part(variable)}/histogram`) + query({ bins, component, where, tag: which.tag }));
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) return null;
      throw error;
    }
  }

  async series(run: string, object: string, variable: string, component: number, at: number[], every: number): Promise<Series> {
    const got = await this.json<{ times: (number | string | null)[]; values: (number | string | null)[] }>(
      `api/v1/${part(run)}/series/${part(object)}/${part(variable)}` + query({ at: at.join(","), component, every: every > 1 ? every : undefined }));
    return { times: got.times.map(numberOf), values: got.values.map((v) => (v === null ? null : numberOf(v))) };
  }

  follow(run: string, listener: Listener): () => void {
    let events: EventSource | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let attempt = 0;
    const open = () => {
      events = new EventSource(`${this.base}api/v1/${part(run)}/events`);
      events.addEventListener("steps", (event) => {
        attempt = 0;
        this.hear(true);
        const { steps, times } = JSON.parse(event.data);
        listener.steps(steps, times);
      });
      events.addEventListener("step", (event) => {
        const { step, time } = JSON.parse(event.data);
        listener.step(step, time);
      });
      events.addEventListener("removed", (event) => listener.removed(JSON.parse(event.data).step));
      events.addEventListener("error", () => {
        events?.close();
        timer = setTimeout(open, patience(attempt++));
        // A stream also ends when it is idle for long; only the server's silence is a loss.
        fetch(`${this.base}api/v1`).then(() => this.hear(true), () => this.hear(false));
      });
    };
    const close = () => {
      clearTimeout(timer);
      events?.close();
      events = null;
    };
    // A browser has six connections to a server, for all of its pages. Streams of pages that nobody
    // sees would take them, and nothing else would be answered.
    const look = () => {
      close();
      if (!document.hidden) open();
    };
    document.addEventListener("visibilitychange", look);
    look();
    return () => {
      document.removeEventListener("visibilitychange", look);
      close();
    };
  }
}
