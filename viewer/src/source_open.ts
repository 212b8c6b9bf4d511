// source_open.ts -- where the data of this page come from: a folder if the page names a listing, else
// the server that sent it.
import { ApiError, Server } from "./api.ts";
import { Folder } from "./source_folder.ts";
import type { Hand } from "./source_pool.ts";
import type { Source } from "./source.ts";

async function compile(): Promise<WebAssembly.Module> {
  const url = new URL("bouma.wasm", import.meta.url).href;
  const answer = await fetch(url);
  if (!answer.ok) throw new ApiError(answer.status, `${url}: the web server answers ${answer.status}; copy the whole folder again`);
  return WebAssembly.compile(await answer.arrayBuffer());
}

/** 'tell' hears when the server is gone, and when it is back. */
export function openSource(tell: (there: boolean) => void): Source {
  const link = document.querySelector<HTMLLinkElement>('link[rel="bouma-listing"]');
  if (!link) return new Server(new URL(".", location.href).href, tell);
  const hand = () => new Worker(new URL("worker.js", import.meta.url), { type: "module" }) as unknown as Hand;
  return new Folder(link.href, tell, { module: compile, hand, most: Math.min(4, navigator.hardwareConcurrency || 1) });
}
