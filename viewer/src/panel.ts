// panel.ts -- the panel at the side: what can be chosen for the step that is shown.
import type { App } from "./app.ts";
import { drawHistogram, drawSeries } from "./charts.ts";
import { invertedMap, isInverted, mapNames, plainMap } from "./colours.ts";
import { check, double, h, isEdited, pair, row, select, setLimits, slider } from "./dom.ts";
import { count, number, numberIn, withUnit } from "./format.ts";
import { filterLimits, grids, isPresent, modeOf, scalars, sets, slicesOf, type GridLook } from "./look.ts";
import { opacityEditor } from "./opacity.ts";
import { countValues } from "./points.ts";
import type { Particles, Variable } from "./source.ts";
import { axes, modes, type View } from "./state.ts";
import { stepAt } from "./timeline.ts";
import { seriesOf, variableRows } from "./vectors.ts";

/** What a control is called, by which it is found again. */
function nameOf(element: Element): string {
  return element.ariaLabel ?? element.textContent ?? "";
}

/** Sets with more variables show the histograms of those that are asked for. */
const fewVariables = 4;
/** A series has no more points than a chart can show. */
const mostPlotted = 500;

export class Panel {
  private built = "";
  private drawnOf = ""; // the step that histograms are of
  private refreshers: (() => void)[] = [];
  private charts: (() => void)[] = [];
  private readonly opened = new Set<string>(); // variables with a filter, "set/variable"
  private readonly series = h("div");
  private redrawSeries: (() => void) | null = null;
  private asked = 0; // series so far

  constructor(private readonly app: App, private readonly root: HTMLElement) {}

  /** Build it anew if there is something else to choose; else show other values. */
  update(): void {
    const { app } = this;
    const key = app.step ? this.structure() : "";
    if (key === this.built) this.refreshers.forEach((refresh) => refresh());
    else if (!this.isInUse()) this.rebuild(key);
    this.redrawSeries?.();
    const shown = app.step && JSON.stringify([app.which(""), this.root.clientWidth]);
    if (!shown || !this.root.clientWidth || shown === this.drawnOf || app.phase() !== "complete") return;
    this.drawnOf = shown;
    this.charts.forEach((draw) => draw());
  }

  /** Other colours: what is drawn by hand is drawn again. */
  redraw(): void {
    this.built = "again"; // no structure, not even that of no step
    this.drawnOf = "";
    this.update();
  }

  /** All that decides which controls there are. */
  private structure(): string {
    const { view, step, loader } = this.app;
    const objects = step!.objects.map((o) => [o.name, o.kind, o.variables.map((v) => [v.name, v.components, isPresent(v)])]);
    const histogram = !!loader?.hasPicture() && view.mode === "volume";
    return JSON.stringify([objects, view.grid, view.component, view.tint, view.tintComponent, view.tintRange === null, view.mode, view.map, view.range === null, view.nearest, view.particles, view.colour,
      view.pointMap, view.pointRange === null, Object.keys(view.slices), histogram, [...this.opened], Object.keys(view.filters)]);
  }

  /** Someone types, or holds a slider. */
  private isInUse(): boolean {
    const { activeElement } = document;
    if (!this.root.contains(activeElement)) return false;
    return isEdited(activeElement) || (activeElement instanceof HTMLInputElement && activeElement.type === "range" && this.root.matches(":active"));
  }

  private rebuild(key: string): void {
    const { app } = this;
    const { scrollTop } = this.root;
    const focused = this.root.contains(document.activeElement) ? nameOf(document.activeElement!) : null;
    this.built = key;
    this.refreshers = [];
    this.charts = [];
    this.drawnOf = "";
    if (!app.step) return this.root.replaceChildren();
    this.root.replaceChildren(...this.gridPart(app.gridLook()), ...this.particlesPart(app.set()), ...this.boxPart(), this.series);
    this.root.scrollTop = scrollTop;
    const again = focused && [...this.root.querySelectorAll<HTMLElement>("select, input, button, canvas")].find((e) => nameOf(e) === focused);
    if (again) again.focus();
    // What is typed next is a new number, as after a tab: nothing of it has been typed yet.
    if (again instanceof HTMLInputElement && again.type === "number") again.select();
  }

  private set(change: Partial<View>): void {
    this.app.change(change);
  }

  /** Now, and whenever the view or the step is another one. */
  private keep(refresh: () => void): void {
    this.refreshers.push(refresh);
    refresh();
  }

  // ---- grids ----------------------------------------------------------------

  private gridPart(look: GridLook | null): HTMLElement[] {
    const { app } = this;
    const names = grids(app.step!).flatMap((g) => g.variables.filter(isPresent).map((v) => `${g.name}/${v.name}`));
    if (names.length === 0) return [];
    const values: [string, string][] = [["", "none"], ...names.map((n) => [n, n] as [string, string])];
    const out = [h("h2", {}, "Grid"), row("variable", select(values, app.view.grid, (grid) => this.set({ grid, component: 0, tint: "", tintComponent: 0, tintRange: null, range: null, iso: null, slices: {} }), "Variable"))];
    if (!look) return out;
    out.push(...variableRows(app, look, (change) => this.set(change), (...row) => this.rangeRow(...row)));
    if (look.dims === 3)
      out.push(h("div", { className: "many" }, ...modes.map((mode) => h("button", { className: mode === app.view.mode ? "on" : "", ariaPressed: String(mode === app.view.mode), onclick: () => this.set({ mode }) }, mode))));
    const curve = app.plot.takes(app.source, look);
    const mode = modeOf(look.dims, app.view);
    if (!curve) out.push(this.coloursRow(app.view.map, (map) => this.set({ map }), "Colours"));
    out.push(this.rangeRow(() => app.range(app.gridLook()!), app.view.range !== null, (range) => this.set({ range }), "Range"));
    if (curve) return out;
    if (mode === "volume") out.push(...this.opacityRows());
    if (mode === "iso") out.push(this.isoRow(look));
    if (mode === "slices" && look.dims === 3) out.push(...this.sliceRows(look));
    out.push(row("", check("nearest sample", app.view.nearest, (nearest) => this.set({ nearest }))));
    return out;
  }

  private coloursRow(map: string, changed: (map: string) => void, label: string): HTMLElement {
    const names = select(mapNames.map((m) => [m, m]), plainMap(map), (name) => changed(isInverted(map) ? invertedMap(name) : name), label);
    const turn = h("button", { className: isInverted(map) ? "on" : "", ariaPressed: String(isInverted(map)), ariaLabel: `${label}, inverted`, title: "From the other end", onclick: () => changed(invertedMap(map)) }, "invert");
    return row("colours", h("div", { className: "pair" }, names, turn));
  }

  private rangeRow(now: () => [number, number], fixed: boolean, changed: (range: [number, number] | null) => void, label: string): HTMLElement {
    const inputs = pair(now(), changed, label);
    this.refreshers.push(() => inputs.set(now()));
    const auto = h("button", { title: fixed ? "Take the range of each step" : "The range of each step is taken; keep this one", className: fixed ? "" : "on", ariaPressed: String(!fixed), ariaLabel: `${label}, automatic`, onclick: () => changed(fixed ? null : now()) }, "auto");
    inputs.element.append(auto);
    return row("range", inputs.element);
  }

  private opacityRows(): HTMLElement[] {
    const { app } = this;
    const counts = app.loader?.hasPicture() ? app.loader.histogram() : [];
    const editor = opacityEditor(app.view.stops, app.view.map, counts, (stops) => this.set({ stops }));
    return [editor, h("div", { className: "hint" }, "opacity over value; double-click adds or removes a point. Keys: arrows, enter (next), + and delete")];
  }

  private isoRow(look: GridLook): HTMLElement {
    const { app } = this;
    const text = h("div", { className: "hint" });
    const tell = (value: number) => (text.textContent = withUnit(number(value), look.variable.unit));
    const input = slider(0, 1, 1, 0, (value) => {
      tell(value);
      this.set({ iso: value });
    }, "Isosurface");
    this.keep(() => {
      if (this.isInUse()) return;
      const [low, high] = app.range(app.gridLook()!);
      const iso = app.view.iso ?? (low + high) / 2;
      setLimits(input, Math.min(low, iso), Math.max(high, iso), (high - low) / 1000, iso);
      tell(iso);
    });
    return row("surface", input, text);
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
      const last = shown[axis] !== undefined && Object.keys(shown).length === 1;
      const box = h("input", { type: "checkbox", checked: shown[axis] !== undefined, disabled: last, title: last ? "The last slice stays; the variable 'none' hides the grid" : "", ariaLabel: `Slice ${axis}` });
      box.onchange = () => {
        const slices = { ...slicesOf(look, app.view) };
        box.checked ? (slices[axis] = Number(input.value)) : delete slices[axis];
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
    out.push(row("colour by", select(coloured, app.view.colour, (colour) => this.set({ colour, pointRange: null }), "Coloured by")));
    out.push(this.coloursRow(app.view.pointMap, (pointMap) => this.set({ pointMap }), "Colours of particles"));
    if (app.view.colour) out.push(this.rangeRow(() => app.pointRange(app.set()!), app.view.pointRange !== null, (pointRange) => this.set({ pointRange }), "Range of particles"));
    out.push(row("size", slider(-1, 1.2, 0.01, Math.log10(app.view.size), (v) => this.set({ size: 10 ** v }), "Size")));
    out.push(this.qualityRow(), ...this.filters(set));
    return out;
  }

  private qualityRow(): HTMLElement {
    const { app } = this;
    const text = h("div", { className: "hint" });
    const tell = (quality: number) => {
      const all = app.set()!.count;
      text.textContent = `about ${count(Math.round(quality * all))} of ${count(all)}`;
    };
    const input = slider(-3, 0, 0.01, Math.log10(Math.max(app.view.quality, 1e-3)), (v) => {
      tell(10 ** v);
      this.later({ quality: 10 ** v });
    }, "Quality");
    this.keep(() => tell(this.isInUse() ? 10 ** Number(input.value) : app.view.quality));
    return row("quality", input, text);
  }

  /** A range for each variable of few; of many, for those that are asked for. */
  private filters(set: Particles): HTMLElement[] {
    const { app } = this;
    const all = scalars(set);
    const isOpen = (v: Variable) => all.length <= fewVariables || this.opened.has(`${set.name}/${v.name}`) || v.name in app.view.filters;
    const out = all.filter(isOpen).map((v) => this.filter(set, v));
    if (all.length > fewVariables) {
      const closed: [string, string][] = all.filter((v) => !isOpen(v)).map((v) => [v.name, v.name]);
      out.unshift(row("filter by", select([["", "choose …"], ...closed], "", (name) => {
        this.opened.add(`${set.name}/${name}`);
        this.update();
      }, "Filter by")));
    }
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
    const { name } = variable;
    const chart = h("div", { className: "chart" });
    const text = h("span", { className: "hint" });
    const limits = () => filterLimits(app.set()?.variables.find((v) => v.name === name) ?? variable, app.view.filters[name]);
    const now = () => app.view.filters[name] ?? limits();
    const tell = ([a, b]: [number, number]) => (text.textContent = `${numberIn(a, limits())} to ${withUnit(numberIn(b, limits()), variable.unit)}`);
    const without = () => Object.fromEntries(Object.entries(app.view.filters).filter(([key]) => key !== name));
    const slide = double(limits, now(), (range) => {
      tell(range);
      const [low, high] = limits();
      const margin = (high - low) / 400;
      const whole = range[0] <= low + margin && range[1] >= high - margin;
      this.later({ filters: whole ? without() : { ...app.view.filters, [name]: range } });
    }, name);
    const clear = h("button", { title: "All values", ariaLabel: `All values of ${name}`, className: "small", onclick: () => {
      this.opened.delete(`${set.name}/${name}`);
      clearTimeout(this.timer);
      this.set({ filters: without() });
    } }, "×");
    tell(now());
    this.keep(() => {
      if (this.isInUse()) return;
      slide.set(now());
      tell(now());
      clear.style.visibility = name in app.view.filters || this.opened.has(`${set.name}/${name}`) ? "" : "hidden";
    });
    this.charts.push(() => void this.chart(chart, set, variable, ...limits()));
    return h("div", { className: "filter" }, h("div", { className: "title" }, h("span", { className: "name", title: name }, name), text, clear), chart, slide.element);
  }

  /** From the index of the server; or of the particles that are here. */
  private async chart(into: HTMLElement, set: Particles, variable: Variable, low: number, high: number): Promise<void> {
    const { app } = this;
    try {
      const which = app.which(set.name);
      const got = await app.source.histogram(which, variable.name, 0, 48, "");
      if (app.step?.tag !== which.tag) return; // it is of another step by now
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
    const box = () => app.view.box ?? [0, 1, 0, 1, 0, 1];
    const rows = axes.slice(0, app.dims()).map((axis, i) => {
      const text = h("div", { className: "hint" });
      const ends = (): [number, number] => [box()[2 * i], box()[2 * i + 1]];
      const tell = (parts: [number, number]) => {
        const { low, high } = app.scene.frame;
        const [a, b] = parts.map((part) => numberIn(low[i] + part * (high[i] - low[i]), [low[i], high[i]]));
        text.textContent = `${a} to ${withUnit(b, app.gridLook()?.grid.unit ?? app.set()?.unit)}`;
      };
      const slide = double(() => [0, 1], ends(), ([a, b]) => {
        const next = [...box()];
        next[2 * i] = a;
        next[2 * i + 1] = b;
        tell([a, b]);
        this.later({ box: next.every((v, j) => v === j % 2) ? null : next });
      }, `Box, ${axis}`);
      this.keep(() => {
        if (this.isInUse()) return;
        slide.set(ends());
        tell(ends());
      });
      return row(axis, slide.element, text);
    });
    const all = h("button", { className: "small", ariaLabel: "The whole box", title: "The whole box", onclick: () => this.set({ box: null }) }, "all");
    this.keep(() => (all.disabled = app.view.box === null));
    return [h("h2", {}, "Box", all), ...rows];
  }

  /** One sample over time. */
  async showSeries(sample: number[], name: string): Promise<void> {
    const { app } = this;
    const look = app.gridLook();
    if (!look) return;
    const every = Math.ceil(app.line.steps.length / mostPlotted);
    const turn = ++this.asked;
    const series = await seriesOf(look, (component) => app.source.series(app.view.run, look.grid.name, look.variable.name, component, sample, every));
    if (turn !== this.asked) return; // another one was asked for since
    const chart = h("div", { className: "chart series", title: "Click to go to a step" });
    const close = h("button", { className: "small", ariaLabel: "Close the series", title: "Close", onclick: () => {
      this.asked++;
      this.redrawSeries = null;
      this.series.replaceChildren();
    } }, "×");
    const title = withUnit(name, look.variable.unit && `[${look.variable.unit}]`);
    this.series.replaceChildren(h("h2", {}, "Over time", close), h("div", { className: "hint" }, `${title} at sample ${sample.join(", ")}${every > 1 ? `, every ${every} steps` : ""}`), chart);
    let drawn = "";
    this.redrawSeries = () => {
      const now = JSON.stringify([app.step?.step, document.documentElement.dataset.theme, this.root.clientWidth]);
      if ((now === drawn && chart.firstChild) || !chart.clientWidth) return;
      drawn = now;
      drawSeries(chart, series, name, () => app.step?.time ?? NaN, (i) => this.set({ step: stepAt(app.line, series.times[i]), follow: false }));
    };
    this.redrawSeries();
    this.series.scrollIntoView({ block: "nearest" });
  }
}
