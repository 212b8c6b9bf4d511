// state.ts -- what is looked at and how; and the same as the end of a URL.
import type { Stop } from "./colours.ts";

export const modes = ["volume", "max", "iso", "slices"] as const;
export type Mode = (typeof modes)[number];
export type Axis = "x" | "y" | "z";
export const axes: Axis[] = ["x", "y", "z"];

export interface View {
  run: string;
  step: number | null; // null: the last
  follow: boolean;
  grid: string; // "object/variable"; "": none
  component: number; // -1: the length of the vector
  tint: string; // a variable of the same grid that colours it; "": itself
  tintComponent: number;
  tintRange: [number, number] | null;
  mode: Mode;
  map: string;
  range: [number, number] | null; // null: that of the step
  stops: Stop[]; // opacities
  iso: number | null; // null: the middle of the range
  slices: Partial<Record<Axis, number>>; // indices of samples
  nearest: boolean;
  level: number; // the finest one that is fetched
  particles: string; // "object"; "": none
  colour: string; // the variable that colours them; "": none
  pointMap: string;
  pointRange: [number, number] | null;
  quality: number;
  size: number;
  filters: Record<string, [number, number]>;
  box: number[] | null; // x0, x1, y0, y1, z0, z1, as fractions of all
  along: Axis | ""; // an exact view along an axis; "": free
  camera: number[] | null; // position and target
  flat: boolean; // without perspective
  zoom: number; // of a view without perspective
  bare: boolean; // nothing but the picture
  theme: "light" | "dark" | "";
}

export const usual: Readonly<View> = Object.freeze({
  run: "", step: null, follow: false,
  grid: "", component: 0, tint: "", tintComponent: 0, tintRange: null, mode: "volume" as Mode, map: "viridis", range: null,
  stops: [[0, 0], [0.15, 0], [1, 0.6]] as Stop[], iso: null, slices: {}, nearest: false, level: 0,
  particles: "", colour: "", pointMap: "magma", pointRange: null, quality: 1, size: 1, filters: {},
  box: null, along: "" as const, camera: null, flat: false, zoom: 1, bare: false, theme: "" as const,
});

const text = (value: string) => encodeURIComponent(value).replace(/%2F/g, "/").replace(/%20/g, "+");
const untext = (value: string) => decodeURIComponent(value.replace(/\+/g, " "));
const short = (value: number) => String(Number(value.toPrecision(7)));

/** Numbers with commas between, or null if they are not 'count' finite ones. */
function numbers(value: string, count: number): number[] | null {
  const out = value.split(",").map(Number);
  return out.length === count && value !== "" && out.every(Number.isFinite) ? out : null;
}

function pairOf(value: string): [number, number] | null {
  const pair = numbers(value, 2);
  return pair && pair[0] <= pair[1] ? (pair as [number, number]) : null;
}

type Codec = { write(view: View): string | null; read(view: View, value: string): void };

function flag(key: "follow" | "nearest" | "flat" | "bare"): Codec {
  return { write: (v) => (v[key] ? "1" : null), read: (v, s) => void (v[key] = s === "1") };
}
function word<K extends "run" | "grid" | "tint" | "particles" | "colour" | "map" | "pointMap">(key: K): Codec {
  return { write: (v) => (v[key] === usual[key] ? null : text(v[key])), read: (v, s) => void (v[key] = untext(s)) };
}
function choice<K extends "mode" | "along" | "theme">(key: K, words: readonly View[K][]): Codec {
  return {
    write: (v) => (v[key] === usual[key] ? null : v[key]),
    read: (v, s) => void (words.includes(s as View[K]) && (v[key] = s as View[K])),
  };
}
function amount(key: "component" | "tintComponent" | "level" | "quality" | "size" | "zoom", low: number, high: number): Codec {
  return {
    write: (v) => (v[key] === usual[key] ? null : short(v[key])),
    read: (v, s) => {
      const value = Number(s);
      if (Number.isFinite(value)) v[key] = Math.min(Math.max(value, low), high);
    },
  };
}
function pair(key: "range" | "tintRange" | "pointRange"): Codec {
  return { write: (v) => (v[key] ? v[key]!.map(String).join(",") : null), read: (v, s) => void (v[key] = pairOf(s)) };
}

/** In this order in a link. */
const codecs: Record<string, Codec> = {
  run: word("run"),
  step: {
    write: (v) => (v.step === null ? null : String(v.step)),
    read: (v, s) => void (/^\d+$/.test(s) && (v.step = Number(s))),
  },
  follow: flag("follow"),
  grid: word("grid"),
  component: amount("component", -1, 1e6),
  tint: word("tint"),
  tintComponent: amount("tintComponent", -1, 1e6),
  tintRange: pair("tintRange"),
  mode: choice("mode", modes),
  map: word("map"),
  range: pair("range"),
  opacity: {
    write: (v) => (JSON.stringify(v.stops) === JSON.stringify(usual.stops) ? null : v.stops.map((s) => s.map(short).join(":")).join(",")),
    read: (v, s) => {
      const stops = s.split(",").map((stop) => stop.split(":").map(Number));
      const good = stops.every((p) => p.length === 2 && p.every((x) => x >= 0 && x <= 1));
      if (good) v.stops = (stops as Stop[]).sort((a, b) => a[0] - b[0]);
    },
  },
  iso: {
    write: (v) => (v.iso === null ? null : String(v.iso)),
    read: (v, s) => void (s !== "" && Number.isFinite(Number(s)) && (v.iso = Number(s))),
  },
  slices: {
    write: (v) => axes.filter((a) => v.slices[a] !== undefined).map((a) => a + v.slices[a]).join(",") || null,
    read: (v, s) => {
      for (const [, axis, index] of s.matchAll(/([xyz])(\d+)/g)) v.slices[axis as Axis] = Number(index);
    },
  },
  nearest: flag("nearest"),
  level: amount("level", 0, 62),
  particles: word("particles"),
  colour: word("colour"),
  pointMap: word("pointMap"),
  pointRange: pair("pointRange"),
  quality: amount("quality", 0, 1),
  size: amount("size", 0.1, 20),
  where: {
    write: (v) => Object.entries(v.filters).map(([name, [a, b]]) => `${text(name)}:${a}:${b}`).join(",") || null,
    read: (v, s) => {
      for (const filter of s.split(",")) {
        const fields = filter.split(":");
        const range = fields.length === 3 ? pairOf(`${fields[1]},${fields[2]}`) : null;
        if (range) v.filters[untext(fields[0])] = range;
      }
    },
  },
  box: {
    write: (v) => (v.box ? v.box.map(short).join(",") : null),
    read: (v, s) => {
      const box = numbers(s, 6);
      v.box = box && [0, 2, 4].every((i) => box[i] >= 0 && box[i] < box[i + 1] && box[i + 1] <= 1) ? box : null;
    },
  },
  along: choice("along", ["", ...axes]),
  camera: { write: (v) => (v.camera ? v.camera.map(short).join(",") : null), read: (v, s) => void (v.camera = numbers(s, 6)) },
  flat: flag("flat"),
  zoom: amount("zoom", 0.01, 1e4),
  bare: flag("bare"),
  theme: choice("theme", ["", "light", "dark"]),
};

export function fresh(): View {
  return structuredClone(usual) as View;
}

/** "#run=heat&step=3...", without what is as usual. */
export function toHash(view: View): string {
  const parts = Object.entries(codecs).map(([key, codec]) => [key, codec.write(view)] as const);
  return "#" + parts.filter(([, value]) => value !== null).map(([key, value]) => `${key}=${value}`).join("&");
}

/** What is not understood stays as usual. */
export function fromHash(hash: string): View {
  const view = fresh();
  for (const item of hash.replace(/^#/, "").split("&")) {
    const at = item.indexOf("=");
    const codec = at > 0 && Object.hasOwn(codecs, item.slice(0, at)) ? codecs[item.slice(0, at)] : undefined;
    try {
      codec?.read(view, item.slice(at + 1));
    } catch {
      // A link that was cut: a malformed escape.
    }
  }
  return view;
}

/** Conditions as the server understands them. */
export function whereText(filters: View["filters"]): string {
  const name = (s: string) => (/^[A-Za-z_]\w*$/.test(s) ? s : s.includes("'") ? `"${s}"` : `'${s}'`);
  return Object.entries(filters).map(([key, [a, b]]) => {
    const [, base, index] = /^(.*?)(\[\d+\])?$/.exec(key)!;
    return `${a} <= ${name(base)}${index ?? ""} <= ${b}`;
  }).join(" && ");
}
