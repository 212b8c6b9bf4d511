// ui.ts -- everything around the picture: bars, legend, messages, keys, pointer and touch.
import type { App } from "./app.ts";
import { colourAt } from "./colours.ts";
import { byId, h } from "./dom.ts";
import { bytes, count, number, withUnit } from "./format.ts";
import { Panel } from "./panel.ts";
import { sidesOf } from "./scene.ts";
import { axes, modes, type Axis } from "./state.ts";
import { indexOf } from "./timeline.ts";
import { nameWith, valueOf } from "./vectors.ts";

const help: [string, string][] = [
  ["drag", "turn"], ["right drag, two fingers", "move"], ["wheel, pinch", "nearer, farther"], ["shift + drag", "choose a box"],
  ["click", "the sample over time"], ["space", "play"], ["← →", "step before, next step"], ["f", "follow a running simulation"],
  ["1 2 3 4", "volume, maximum, isosurface, slices"], ["x y z", "look along an axis"], ["o", "with or without perspective"], ["r", "reset the view"],
  ["l", "copy a link to this view"], ["s", "save a picture"], ["m", "panel"], ["t", "light or dark"], ["?", "these keys"],
];

export class Ui {
  private readonly panel: Panel;
  private note: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly app: App) {
    this.panel = new Panel(app, byId("panel"));
    byId("help").replaceChildren(...help.flatMap(([key, text]) => [h("kbd", {}, key), h("span", {}, text)]));
    this.listen();
    document.body.classList.toggle("without-panel", window.innerWidth <= 640);
    this.look();
  }

  // ---- what it tells ------------------------------------------------------------

  /** Colours, and whether there is anything but the picture. */
  look(): void {
    const { view, scene } = this.app;
    const theme = view.theme || (matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark");
    document.documentElement.dataset.theme = theme;
    document.body.classList.toggle("bare", view.bare);
    const style = getComputedStyle(document.documentElement);
    scene.setLooks(style.getPropertyValue("--back").trim(), theme === "dark" ? "#5a6270" : "#a8b0ba", view.bare);
  }

  changed(): void {
    const { app } = this;
    const { view, line, step } = app;
    const runs = byId<HTMLSelectElement>("run");
    if (runs.options.length !== app.runs.length) runs.replaceChildren(...app.runs.map((name) => h("option", { value: name }, name)));
    runs.value = view.run;
    document.title = `${view.run} - bouma`;
    const slider = byId<HTMLInputElement>("slider");
    slider.max = String(Math.max(line.steps.length - 1, 0));
    slider.value = String(indexOf(line, view.step));
    byId("now").textContent = step ? `step ${step.step}, t = ${number(step.time)}` : "";
    byId<HTMLInputElement>("follow").checked = view.follow;
    byId("play").querySelector("path")!.setAttribute("d", app.playing ? "M4 3h3v10H4zM9 3h3v10H9z" : "M4 3v10l9-5z");
    this.legend();
    this.panel.update();
    history.replaceState(null, "", app.link());
  }

  progressed(): void {
    const { app } = this;
    const { grid, points } = app.progress();
    const look = app.gridLook();
    const set = app.set();
    const parts: string[] = [];
    if (look && grid) {
      const level = grid.level === null ? "-" : String(grid.level);
      parts.push(`${look.grid.name}/${look.variable.name}: level ${level} of ${look.grid.levels - 1} to 0, ${grid.there} of ${grid.wanted} bricks`);
      parts.push(grid.error === null ? "error unknown" : grid.error === 0 ? "exact samples" : `error ≤ ${withUnit(number(grid.error, 3), look.variable.unit)}`);
    }
    if (set) parts.push(`${set.name}: ${count(points.count)} of ${count(set.count)}, quality ${number(points.quality, 3)}${points.all ? "" : " …"}`);
    byId("shown").textContent = parts.join("  ·  ");
    let stored = 0;
    if (look) stored += look.variable.stored_bytes;
    for (const v of set?.variables ?? []) if (v === set?.variables[0] || v.name === app.view.colour) stored += v.stored_bytes;
    byId("fetched").textContent = `${bytes(app.source.bytes())} fetched; ${bytes(stored)} stored in this step`;
    this.labels();
    if (app.phase() === "complete") this.panel.update();
  }

  private legend(): void {
    const { app } = this;
    const bar = (map: string) => {
      const canvas = h("canvas", { width: 256, height: 1 });
      const context = canvas.getContext("2d")!;
      for (let i = 0; i < 256; i++) {
        context.fillStyle = `rgb(${colourAt(map, i / 255).join(" ")})`;
        context.fillRect(i, 0, 1, 1);
      }
      return canvas;
    };
    const figure = (name: string, unit: string | undefined, map: string, [low, high]: [number, number]) =>
      h("figure", {}, h("figcaption", {}, unit ? `${name} [${unit}]` : name), bar(map), h("div", { className: "ends" }, h("span", {}, number(low)), h("span", {}, number((low + high) / 2)), h("span", {}, number(high))));
    const look = app.gridLook();
    const set = app.set();
    const coloured = set?.variables.find((v) => v.name === app.view.colour);
    const out: HTMLElement[] = [];
    if (look && look.tint) out.push(figure(nameWith(look.tint, look.tintComponent), look.tint.unit, app.view.map, app.tintRange(look)));
    else if (look && !app.plot.takes(app.source, look)) out.push(figure(nameWith(look.variable, look.component), look.variable.unit, app.view.map, app.range(look)));
    if (set && coloured) out.push(figure(coloured.name, coloured.unit, app.view.pointMap, app.pointRange(set)));
    byId("legend").replaceChildren(...out);
  }

  /** The ends of the axes, with coordinates. */
  private labels(): void {
    const { scene } = this.app;
    const root = byId("labels");
    root.hidden = this.app.plot.isShown; // which has its own
    const sides = sidesOf(scene.frame).map((s) => s / 2);
    const unit = this.app.gridLook()?.grid.unit ?? this.app.set()?.unit;
    const matrix = scene.matrix();
    const spots: [string, number[]][] = axes.map((axis, i) => [
      `${axis} ${withUnit(number(scene.frame.high[i], 4), unit)}`, sides.map((s, j) => (i === j ? s * 1.08 + 0.02 : (i === 1 && j === 0 ? s : -s) * 1.04)),
    ]);
    while (root.children.length < spots.length) root.append(h("span"));
    spots.forEach(([text, p], i) => {
      const e = matrix.elements;
      const at = [0, 1, 3].map((r) => e[r] * p[0] + e[4 + r] * p[1] + e[8 + r] * p[2] + e[12 + r]);
      const span = root.children[i] as HTMLElement;
      span.textContent = text;
      span.hidden = at[2] <= 0;
      // Wherever the end is, its label stays within the picture.
      const { clientWidth: width, clientHeight: height, offsetLeft, offsetTop } = scene.canvas;
      const within = (v: number, half: number, all: number) => Math.min(Math.max(v, half), all - half);
      span.style.left = `${within(((at[0] / at[2] + 1) / 2) * width, span.offsetWidth / 2 + 4, width) + offsetLeft}px`;
      span.style.top = `${within(((1 - at[1] / at[2]) / 2) * height, span.offsetHeight / 2 + 4, height) + offsetTop}px`;
    });
  }

  /** Stays until it is hidden, or for 'seconds'. */
  tell(message: string | null, seconds = 0): void {
    clearTimeout(this.note);
    const box = byId("message");
    box.hidden = message === null;
    box.textContent = message ?? "";
    if (seconds) this.note = setTimeout(() => (box.hidden = true), seconds * 1000);
  }

  // ---- what it hears ----------------------------------------------------------------

  private listen(): void {
    const { app } = this;
    byId<HTMLSelectElement>("run").onchange = (event) => app.change({ run: (event.target as HTMLSelectElement).value, step: null, grid: "", particles: "", range: null, slices: {}, filters: {}, box: null });
    byId<HTMLInputElement>("slider").oninput = (event) => app.change({ step: app.line.steps[Number((event.target as HTMLInputElement).value)], follow: false });
    byId<HTMLInputElement>("follow").onchange = () => this.press("f");
    byId("menu").onclick = () => this.press("m");
    for (const button of document.querySelectorAll<HTMLElement>("[data-key]")) button.onclick = () => this.press(button.dataset.key!);
    window.addEventListener("keydown", (event) => {
      const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === " " && event.target instanceof HTMLButtonElement) return;
      if (this.press({ ArrowLeft: "[", ArrowRight: "]" }[event.key] ?? event.key)) event.preventDefault();
    });
    window.addEventListener("resize", () => app.scene.resize());
    matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => this.look());
    this.listenToPointer();
  }

  /** What a key or a button does; false if nothing. */
  press(key: string): boolean {
    const { app } = this;
    const { view } = app;
    if (axes.includes(key as Axis)) app.change({ along: key as Axis });
    else if (modes[Number(key) - 1]) app.change({ mode: modes[Number(key) - 1] });
    else if (key === "r") app.change({ along: "", camera: null, flat: false });
    else if (key === "o") app.change({ along: "", flat: !app.scene.isFlat, camera: view.along ? null : app.scene.getCamera() });
    else if (key === "[" || key === "]") app.go(key === "[" ? -1 : 1);
    else if (key === " ") app.play(!app.playing);
    else if (key === "f") app.change(view.follow ? { follow: false, step: app.step?.step ?? null } : { follow: true, step: null });
    else if (key === "m") {
      document.body.classList.toggle("without-panel");
      app.scene.resize();
    }
    else if (key === "?") byId("help").hidden = !byId("help").hidden;
    else if (key === "Escape") byId("help").hidden = true;
    else if (key === "t") {
      view.theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
      this.look();
      app.change({});
    } else if (key === "l") void this.copyLink();
    else if (key === "s") void this.save();
    else return false;
    return true;
  }

  private async copyLink(): Promise<void> {
    const link = new URL(this.app.link(), location.href).href;
    history.replaceState(null, "", link);
    const copied = await navigator.clipboard?.writeText(link).then(() => true, () => false);
    this.tell(copied ? "The link to this view is copied." : `The link to this view: ${link}`, 5);
  }

  private async save(): Promise<void> {
    const picture = await this.app.scene.picture();
    if (!picture) return;
    const url = URL.createObjectURL(picture);
    h("a", { href: url, download: `${this.app.view.run}_${this.app.step?.step ?? 0}.png` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }

  private listenToPointer(): void {
    const { app } = this;
    const { canvas } = app.scene;
    const rubber = byId("rubber");
    let start: PointerEvent | null = null;
    let choosing = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    canvas.addEventListener("pointerdown", (event) => {
      start = event;
      choosing = event.shiftKey;
      app.scene.controls.enabled = !choosing;
      byId("tip").hidden = true;
    }, { capture: true });
    canvas.addEventListener("pointermove", (event) => {
      if (start && choosing) {
        const [x, y] = [Math.min(start.clientX, event.clientX), Math.min(start.clientY, event.clientY)];
        rubber.hidden = false;
        Object.assign(rubber.style, { left: `${x}px`, top: `${y}px`, width: `${Math.abs(event.clientX - start.clientX)}px`, height: `${Math.abs(event.clientY - start.clientY)}px` });
      }
      byId("tip").hidden = true;
      clearTimeout(timer);
      if (!event.buttons) timer = setTimeout(() => void this.point(event.clientX, event.clientY), 80);
    });
    canvas.addEventListener("pointerleave", () => {
      clearTimeout(timer);
      byId("tip").hidden = true;
    });
    canvas.addEventListener("pointerup", (event) => {
      const begun = start;
      start = null;
      app.scene.controls.enabled = true;
      rubber.hidden = true;
      if (!begun) return;
      const far = Math.hypot(event.clientX - begun.clientX, event.clientY - begun.clientY) > 4;
      if (choosing && far) app.selectBox(...this.onCanvas(begun.clientX, begun.clientY), ...this.onCanvas(event.clientX, event.clientY));
      else if (!far) void this.click(event.clientX, event.clientY);
    });
  }

  private onCanvas(x: number, y: number): [number, number] {
    const box = this.app.scene.canvas.getBoundingClientRect();
    return [x - box.left, y - box.top];
  }

  /** Coordinates and value at a place of the window. */
  async point(x: number, y: number): Promise<void> {
    const tip = byId("tip");
    const under = this.app.under(...this.onCanvas(x, y));
    if (!under) return;
    const place = axes.map((axis, i) => `${axis} ${number(under.place[i])}`).join("  ");
    const text = (value: string) => `${withUnit(place, under.unit)}${under.sample ? `\nsample ${under.sample.join(", ")}` : ""}${under.name ? `\n${under.name} ${value}` : ""}`;
    const show = (value: string) => {
      tip.textContent = text(value);
      tip.hidden = false;
      tip.style.left = `${Math.min(x + 14, window.innerWidth - tip.offsetWidth - 8)}px`;
      tip.style.top = `${Math.max(y - 14 - tip.offsetHeight, 44)}px`;
    };
    show(under.value === null ? "…" : withUnit(number(under.value), under.valueUnit));
    const look = this.app.gridLook();
    if (!under.sample || !look) return;
    const shown = tip.textContent;
    const value = await valueOf(look, (component) => this.app.source.value(this.app.which(look.grid.name), look.variable.name, component, under.sample!)).catch(() => NaN);
    if (tip.textContent === shown) show(withUnit(number(value), under.valueUnit));
  }

  private async click(x: number, y: number): Promise<void> {
    const under = this.app.under(...this.onCanvas(x, y));
    if (!under) return;
    await this.point(x, y);
    if (under.sample && this.app.line.steps.length > 1) await this.panel.showSeries(under.sample, under.name).catch((error) => this.app.fail(error));
  }
}
