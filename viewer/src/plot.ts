// plot.ts -- a grid of one axis: its values as a curve over the picture's place.
import uPlot from "uplot";
import { curve } from "./charts.ts";
import { byId, h } from "./dom.ts";
import { magnitude, type GridLook } from "./look.ts";
import type { FloatsRequest, Source } from "./source.ts";

const mostSamples = 4096;

/** The finest level with few enough samples, if there is one. */
export function plotLevel(samples: number, levels: number): number {
  return Math.min(Math.max(Math.ceil(Math.log2(samples / mostSamples)), 0), levels - 1);
}

/** Where the samples of a level are: at multiples of 2^level from the first one in the box on. */
export function plotPlaces(look: GridLook, level: number, first: number, count: number): number[] {
  const start = Math.ceil(first / 2 ** level) * 2 ** level;
  return Array.from({ length: count }, (_, i) => look.origin[0] + (start + i * 2 ** level) * look.spacing[0]);
}

/** One component, or the length of all. */
export function plotValues(lists: Float32Array[]): number[] {
  return Array.from(lists[0], (v, i) => (lists.length === 1 ? v : Math.hypot(...lists.map((list) => list[i]))));
}

export class Plot {
  waits = false; // for its first curve
  shows = ""; // level and samples
  private key = "";
  private root: HTMLElement | null = null;
  private drawn: uPlot | null = null;

  get isShown(): boolean {
    return this.drawn !== null;
  }

  takes(source: Source, look: GridLook): boolean {
    return look.dims === 1 && source.floats !== undefined;
  }

  async show(source: Source, look: GridLook, request: Omit<FloatsRequest, "variable" | "component">, range: [number, number] | null, changed: () => void): Promise<void> {
    const key = JSON.stringify([request, look.variable.name, look.component, range]);
    if (key === this.key) return;
    this.key = key;
    this.waits = true;
    try {
      const components = look.component === magnitude ? look.variable.ranges.map((_, i) => i) : [look.component];
      const lists = await Promise.all(components.map((component) => source.floats!({ ...request, variable: look.variable.name, component })));
      if (key !== this.key) return;
      this.shows = `level ${request.level}${request.level ? "" : " (full resolution)"}, ${lists[0].length} samples of ${look.shape[0]}`;
      this.draw(look, plotPlaces(look, request.level, request.box[0][0], lists[0].length), plotValues(lists), range);
    } catch (error) {
      if (key !== this.key) return;
      this.key = "";
      throw error;
    } finally {
      if (key === this.key || this.key === "") this.waits = false;
      changed();
    }
  }

  private draw(look: GridLook, x: number[], y: number[], range: [number, number] | null): void {
    if (!this.root) byId("canvas").after((this.root = h("div", { id: "plot" })));
    this.root.hidden = false;
    this.drawn?.destroy();
    const label = (name: string, unit: string | undefined) => (unit ? `${name} [${unit}]` : name);
    const up = look.spacing[0] > 0;
    this.drawn = curve(this.root, up ? x : [...x].reverse(), up ? y : [...y].reverse(), label("x", look.grid.unit), label(look.variable.name, look.variable.unit), range);
  }

  hide(): void {
    this.key = "";
    this.waits = false;
    this.drawn?.destroy();
    this.drawn = null;
    if (this.root) this.root.hidden = true;
  }
}
