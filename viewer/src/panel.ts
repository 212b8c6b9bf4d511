// panel.ts -- the panel at the side: what can be chosen for the step that is shown.
import type { App } from "./app.ts";
import { drawHistogram, drawSeries } from "./charts.ts";
import { mapNames } from "./colours.ts";
import { check, double, h, pair, row, select, slider } from "./dom.ts";
import { number, withUnit } from "./format.ts";
import { grids, isPresent, recorded, scalars, sets, slicesOf, type GridLook } from "./look.ts";
import { opacityEditor } from "./opacity.ts";
import { countValues } from "./points.ts";
import type { Particles, Variable } from "./source.ts";
import { axes, modes, type View } from "./state.ts";
import { seriesOf, variableRows } from "./vectors.ts";

export class Panel {
  private built = "";
  private readonly series = h("div");

  constructor(private readonly app: App, private readonly root: HTMLElement) {}

  /** Build it anew if there is something else to choose. */
  update(): void {
    const { app } = this;
    if (!app.step) return;
    const { view } = app;
    const objects = app.step.objects.map((o) => [o.name, o.kind, o.variables.map((v) => [v.name, v.components, isPresent(v)])]);
    const look = app.gridLook();
    const histogram = !!app.loader?.hasPicture() && view.mode === "volume";
    const key = JSON.stringify([objects, view.grid, view.component, view.tint, view.tintComponent, view.tintRange, view.mode, view.map, view.range, look && view.range === null && app.range(look),
      view.particles, view.colour, view.pointMap, view.pointRange, Object.keys(view.slices), view.box === null, histogram, Object.keys(view.filters)]);
    if (key === this.built || this.root.contains(document.activeElement) && document.activeElement instanceof HTMLInputElement && document.activeElement.type === "range" && this.root.matches(":active")) return;
    this.built = key;
    const set = app.set();
    this.root.replaceChildren(...this.gridPart(look), ...this.particlesPart(set), ...this.boxPart(), this.series);
  }

  private set(change: Partial<View>): void {
    this.app.change(change);
  }

  // ---- grids ----------------------------------------------------------------

  private gridPart(look: GridLook | null): HTMLElement[] {
    const { app } = this;
    const names = grids(app.step!).flatMap((g) => g.variables.filter(isPresent).map((v) => `${g.name}/${v.name}`));
    if (names.length === 0) return [];
    const values: [string, string][] = [["", "none"], ...names.map((n) => [n, n] as [string, string])];
    const out = [h("h2", {}, "Grid"), row("variable", select(values, app.view.grid, (grid) => this.set({ grid, component: 0, tint: "", tintComponent: 0, tintRange: null, range: null, iso: null, slices: {} }), "Variable"))];
    if (!look) return out;
    out.push(...variableRows(app, look, (change) => this.set(change)));
    if (look.dims === 3)
      out.push(h("div", { className: "many" }, ...modes.map((mode) => h("button", { className: mode === app.view.mode ? "on" : "", onclick: () => this.set({ mode }) }, mode))));
    out.push(row("colours", select(mapNames.map((m) => [m, m]), app.view.map, (map) => this.set({ map }), "Colours")), this.rangeRow(look));
    if (app.view.mode === "volume") out.push(...this.opacityRows());
    if (app.view.mode === "iso") out.push(this.isoRow(look));
    if (app.view.mode === "slices") out.push(...this.sliceRows(look));
    out.push(row("", check("nearest sample", app.view.nearest, (nearest) => this.set({ nearest }))));
    return out;
  }

  private rangeRow(look: GridLook): HTMLElement {
    const { app } = this;
    const auto = h("button", { title: "The range of each step", className: app.view.range ? "" : "on", onclick: () => this.set({ range: app.view.range ? null : app.range(look) }) }, "auto");
    const inputs = pair(app.range(look), (range) => this.set({ range }), "Range");
    inputs.append(auto);
    return row("range", inputs);
  }

  private opacityRows(): HTMLElement[] {
    const { app } = this;
    const counts = app.loader?.hasPicture() ? app.loader.histogram() : [];
    const editor = opacityEditor(app.view.stops, app.view.map, counts, (stops) => this.set({ stops }));
    return [h("div", { title: "Drag points; double-click adds or removes one" }, editor), h("div", { className: "hint" }, "opacity over value; double-click adds a point")];
  }

  private isoRow(look: GridLook): HTMLElement {
    const [low, high] = this.app.range(look);
    const iso = this.app.view.iso ?? (low + high) / 2;
    const text = h("div", { className: "hint" }, withUnit(number(iso), look.variable.unit));
    const input = slider(low, high, (high - low) / 1000, iso, (value) => {
      text.textContent = withUnit(number(value), look.variable.unit);
      this.set({ iso: value });
    }, "Isosurface");
    return row("surface at", input, text);
  }

  private sliceRows(look: GridLook): HTMLElement[] {
    const { app } = this;
    const shown = slicesOf(look, app.view);
    return axes.map((axis, i) => {
      const n = look.shape[i];
      const text = h("span", { className: "hint" });
      const tell = (index: number) => (text.textContent = ` ${index}: ${withUnit(number(look.origin[i] + index * look.spacing[i]), look.grid.unit)}`);
      const index = shown[axis] ?? Math.floor(n / 2);
      tell(index);
      const box = h("input", { type: "checkbox", checked: shown[axis] !== undefined, ariaLabel: `Slice ${axis}` });
      box.onchange = () => {
        const slices = { ...slicesOf(look, app.view) };
        box.checked ? (slices[axis] = index) : delete slices[axis];
        this.set({ slices });
      };
      const input = slider(0, n - 1, 1, index, (value) => {
        tell(value);
        this.set({ slices: { ...slicesOf(look, app.view), [axis]: value } });
      }, `Index of slice ${axis}`);
      return row(axis, h("div", { className: "pair" }, box, input), text);
    });
  }

  // ---- particles ----------------------------------------------------------------

  private particlesPart(set: Particles | null): HTMLElement[] {
    const { app } = this;
    const names = sets(app.step!).map((s) => s.name);
    if (names.length === 0) return [];
    const values: [string, string][] = [["", "none"], ...names.map((n) => [n, n] as [string, string])];
    const choose = (particles: string) => {
      const chosen = sets(app.step!).find((s) => s.name === particles);
      this.set({ particles, colour: (chosen && scalars(chosen)[0]?.name) ?? "", pointRange: null, filters: {} });
    };
    const out = [h("h2", {}, "Particles"), row("set", select(values, app.view.particles, choose, "Particles"))];
    if (!set) return out;
    const coloured: [string, string][] = [["", "none"], ...scalars(set).map((v) => [v.name, v.name] as [string, string])];
    out.push(row("coloured by", select(coloured, app.view.colour, (colour) => this.set({ colour, pointRange: null }), "Coloured by")));
    out.push(row("colours", select(mapNames.map((m) => [m, m]), app.view.pointMap, (pointMap) => this.set({ pointMap }), "Colours of particles")));
    if (app.view.colour) out.push(row("range", pair(app.pointRange(set), (pointRange) => this.set({ pointRange }), "Range of particles")));
    out.push(row("size", slider(-1, 1.2, 0.01, Math.log10(app.view.size), (v) => this.set({ size: 10 ** v }), "Size")));
    out.push(row("quality", slider(-3, 0, 0.01, Math.log10(Math.max(app.view.quality, 1e-3)), (v) => this.later({ quality: 10 ** v }), "Quality")));
    for (const variable of scalars(set)) out.push(this.filter(set, variable));
    return out;
  }

  private timer: ReturnType<typeof setTimeout> | undefined;
  /** What is asked from the server, when the hand rests. */
  private later(change: Partial<View>): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.set(change), 200);
  }

  private filter(set: Particles, variable: Variable): HTMLElement {
    const { app } = this;
    const [low, high] = recorded(variable, 0);
    const chart = h("div");
    const text = h("div", { className: "hint" });
    const tell = ([a, b]: [number, number]) => (text.textContent = `${number(a)} to ${withUnit(number(b), variable.unit)}`);
    const now = app.view.filters[variable.name] ?? [low, high];
    tell(now);
    const ends = double(low, high, now, (range) => {
      tell(range);
      const filters = { ...app.view.filters, [variable.name]: range };
      const margin = (high - low) / 400;
      if (range[0] <= low + margin && range[1] >= high - margin) delete filters[variable.name];
      this.later({ filters });
    }, variable.name);
    void this.chart(chart, set, variable, low, high);
    return h("div", {}, h("div", { className: "row" }, h("span", {}, variable.name), text), chart, ends);
  }

  /** From the index of the server; or of the particles that are here. */
  private async chart(into: HTMLElement, set: Particles, variable: Variable, low: number, high: number): Promise<void> {
    const { app } = this;
    try {
      const got = await app.source.histogram(app.which(set.name), variable.name, 0, 48, "");
      if (got) drawHistogram(into, got);
      else if (variable.name === app.view.colour) {
        const values = [...app.points.chunks()].map((chunk) => chunk.values);
        if (values.length) drawHistogram(into, countValues(values, low, high, 48));
      }
    } catch (error) {
      app.fail(error);
    }
  }

  // ---- the box, and series ----------------------------------------------------------

  private boxPart(): HTMLElement[] {
    const { app } = this;
    const rows = axes.map((axis, i) => {
      const box = app.view.box ?? [0, 1, 0, 1, 0, 1];
      return row(axis, double(0, 1, [box[2 * i], box[2 * i + 1]], ([a, b]) => {
        const next = [...(app.view.box ?? [0, 1, 0, 1, 0, 1])];
        next[2 * i] = a;
        next[2 * i + 1] = b;
        this.later({ box: next.every((v, j) => v === j % 2) ? null : next });
      }, `Box, ${axis}`));
    });
    const all = h("button", { onclick: () => {
      this.built = "";
      this.set({ box: null });
    } }, "all");
    return [h("h2", {}, "Box ", h("span", { className: "hint" }, "or shift + drag "), all), ...rows];
  }

  /** One sample over time. */
  async showSeries(sample: number[], name: string): Promise<void> {
    const look = this.app.gridLook();
    if (!look) return;
    const series = await seriesOf(look, (component) => this.app.source.series(this.app.view.run, look.grid.name, look.variable.name, component, sample));
    const chart = h("div");
    this.series.replaceChildren(h("h2", {}, `${name} at ${sample.join(", ")} over time`), chart);
    drawSeries(chart, series, name);
  }
}
