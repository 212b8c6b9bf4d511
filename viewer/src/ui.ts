// ui.ts -- everything around the picture: bars, legend, messages, keys, pointer and touch.
import type { App } from "./app.ts";
import { colourAt, invertedMap } from "./colours.ts";
import { byId, h } from "./dom.ts";
import { bytes, count, number, numberIn, withUnit } from "./format.ts";
import { farther, shifted, turned } from "./orbit.ts";
import { Panel } from "./panel.ts";
import { compose, type Bar, type Label } from "./picture.ts";
import { corner, sidesOf } from "./scene.ts";
import { axes, modes } from "./state.ts";
import { indexOf } from "./timeline.ts";
import { nameWith, valueOf } from "./vectors.ts";

const help: [string, [string, string][]][] = [
  ["Pointer and touch", [
    ["drag; one finger", "turn; along an axis, move"], ["right drag; two fingers", "move"], ["wheel; pinch", "nearer, farther"],
    ["shift + drag", "choose a box"], ["rest; tap", "coordinates and value"], ["click; tap", "the sample over time"],
  ]],
  ["View", [
    ["x y z", "look along an axis"], ["r", "reset the view"], ["o", "with or without perspective"], ["shift + ← → ↑ ↓", "turn"], ["ctrl + ← → ↑ ↓", "move"],
    ["+ −", "nearer, farther"], ["1 2 3 4", "volume, maximum, isosurface, slices"], ["i", "invert the colours"],
    ["b", "choose a box by the next drag"], ["a", "the whole box, and no filters"], ["u, ctrl + z", "undo the last choice"],
  ]],
  ["Time", [
    ["space", "play"], ["← →", "step before, next step"], ["home end", "first step, last step"], ["f", "follow a running simulation"],
    ["enter", "in the picture: the sample in its middle"],
  ]],
  ["Page", [["l", "copy a link to this view"], ["s", "save a picture"], ["m", "panel"], ["t", "light or dark"], ["?", "these keys"], ["esc", "close; let go"]]],
];

/** How far a key moves the camera. */
const turn = Math.PI / 24;
const moveBy = 0.05;
const nearerBy = 1.2;
const arrows: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const plainKeys: Record<string, string> = { ArrowLeft: "[", ArrowRight: "]", "=": "+", "−": "-" };

export class Ui {
  private readonly panel: Panel;
  private noteTimer: ReturnType<typeof setTimeout> | undefined;
  private linkTimer: ReturnType<typeof setTimeout> | undefined;
  private boxing = false; // the next drag chooses a box

  constructor(private readonly app: App) {
    this.panel = new Panel(app, byId("panel"));
    byId("keys").replaceChildren(...help.map(([title, keys]) => h("section", {}, h("h2", {}, title), ...keys.flatMap(([key, text]) => [h("kbd", {}, key), h("span", {}, text)]))));
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
    this.panel.redraw();
    scene.setLooks(style.getPropertyValue("--back").trim(), theme === "dark" ? "#5a6270" : "#a8b0ba", view.bare);
  }

  changed(): void {
    const { app } = this;
    const { view, line, step } = app;
    const runs = byId<HTMLSelectElement>("run");
    if ([...runs.options].map((o) => o.value).join("\n") !== app.runs.join("\n")) runs.replaceChildren(...app.runs.map((name) => h("option", { value: name }, name)));
    runs.value = view.run;
    runs.title = view.run;
    document.title = view.run ? `${view.run} - bouma` : "bouma";
    const slider = byId<HTMLInputElement>("slider");
    slider.max = String(Math.max(line.steps.length - 1, 0));
    slider.value = String(indexOf(line, view.step));
    byId("now").textContent = step ? `step ${step.step}, t = ${number(step.time)}` : "";
    byId<HTMLInputElement>("follow").checked = view.follow;
    byId("play").querySelector("path")!.setAttribute("d", app.playing ? "M4 3h3v10H4zM9 3h3v10H9z" : "M4 3v10l9-5z");
    this.legend();
    this.panel.update();
    byId("play").ariaPressed = String(app.playing);
    // Browsers refuse too many changes of the address in a short time.
    clearTimeout(this.linkTimer);
    this.linkTimer = setTimeout(() => history.replaceState(null, "", app.link()), 300);
  }

  progressed(): void {
    const { app } = this;
    const { grid, points } = app.progress();
    const look = app.gridLook();
    const set = app.set();
    const parts: string[] = [];
    if (look && grid) {
      const coarsest = look.grid.levels - 1;
      const level = grid.level === null ? "no level yet" : `level ${grid.level}${grid.level === 0 ? " (full resolution)" : ` (0 is full resolution, ${coarsest} the coarsest)`}`;
      parts.push(`${look.grid.name}/${look.variable.name}: ${level}, ${grid.there} of ${grid.wanted} bricks`);
      parts.push(grid.error === null ? "error unknown" : grid.error === 0 ? "exact samples" : `error ≤ ${withUnit(number(grid.error, 3), look.variable.unit)}`);
    }
    if (look && app.plot.isShown) parts.push(`${look.grid.name}/${look.variable.name}: ${app.plot.shows}`);
    if (set) parts.push(`${set.name}: ${count(points.count)} of ${count(set.count)}, quality ${number(points.quality, 3)}${points.all ? "" : " …"}`);
    byId("shown").textContent = parts.join("  ·  ");
    let stored = 0;
    if (look) stored += look.variable.stored_bytes;
    for (const v of set?.variables ?? []) if (v === set?.variables[0] || v.name === app.view.colour) stored += v.stored_bytes;
    byId("shown").title = parts.join("\n");
    byId("fetched").textContent = look || set ? `${bytes(app.source.bytes())} fetched; this step has ${bytes(stored)}` : "";
    this.labels();
    if (app.phase() === "complete") this.panel.update();
  }

  /** The colour bars of what is shown. */
  private bars(): Bar[] {
    const { app } = this;
    const bar = (name: string, unit: string | undefined, map: string, [low, high]: [number, number]): Bar => {
      const canvas = h("canvas", { width: 256, height: 1 });
      const context = canvas.getContext("2d")!;
      for (let i = 0; i < 256; i++) {
        context.fillStyle = `rgb(${colourAt(map, i / 255).join(" ")})`;
        context.fillRect(i, 0, 1, 1);
      }
      return { title: unit ? `${name} [${unit}]` : name, canvas, ends: [low, (low + high) / 2, high].map((v) => numberIn(v, [low, high])) };
    };
    const look = app.gridLook();
    const set = app.set();
    const coloured = set?.variables.find((v) => v.name === app.view.colour);
    const out: Bar[] = [];
    if (look && look.tint) out.push(bar(nameWith(look.tint, look.tintComponent), look.tint.unit, app.view.map, app.tintRange(look)));
    else if (look && !app.plot.takes(app.source, look)) out.push(bar(nameWith(look.variable, look.component), look.variable.unit, app.view.map, app.range(look)));
    if (set && coloured) out.push(bar(coloured.name, coloured.unit, app.view.pointMap, app.pointRange(set)));
    return out;
  }

  private legend(): void {
    const figure = ({ title, canvas, ends }: Bar) =>
      h("figure", {}, h("figcaption", { title }, title), canvas, h("div", { className: "ends" }, ...ends.map((end) => h("span", {}, end))));
    byId("legend").replaceChildren(...this.bars().map(figure));
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
      `${axis} ${withUnit(numberIn(scene.frame.high[i], [scene.frame.low[i], scene.frame.high[i]]), unit)}`, sides.map((s, j) => (i === j ? s * 1.08 + 0.02 : (i === 1 && j === 0 ? s : -s) * 1.04)),
    ]);
    while (root.children.length < spots.length) root.append(h("span"));
    spots.forEach(([text, p], i) => {
      const e = matrix.elements;
      const at = [0, 1, 3].map((r) => e[r] * p[0] + e[4 + r] * p[1] + e[8 + r] * p[2] + e[12 + r]);
      const span = root.children[i] as HTMLElement;
      span.textContent = text;
      span.hidden = at[2] <= 0 || i >= (this.app.set()?.dims ?? this.app.gridLook()?.dims ?? 3);
      // Wherever the end is, its label stays within the picture.
      const { clientWidth: width, clientHeight: height, offsetLeft, offsetTop } = scene.canvas;
      const within = (v: number, half: number, all: number) => Math.min(Math.max(v, half), all - half);
      span.style.left = `${within(((at[0] / at[2] + 1) / 2) * width, span.offsetWidth / 2 + 4, width) + offsetLeft}px`;
      span.style.top = `${within(((1 - at[1] / at[2]) / 2) * height, span.offsetHeight / 2 + 4, height) + offsetTop}px`;
    });
  }

  /** For a moment. */
  note(message: string): void {
    clearTimeout(this.noteTimer);
    const box = byId("note");
    box.textContent = message;
    box.hidden = false;
    this.noteTimer = setTimeout(() => (box.hidden = true), 6000);
  }

  // ---- what it hears ----------------------------------------------------------------

  private listen(): void {
    const { app } = this;
    byId<HTMLSelectElement>("run").onchange = (event) => app.choose((event.target as HTMLSelectElement).value);
    byId("run").onfocus = () => void app.findRuns().catch((error) => app.fail(error));
    byId<HTMLInputElement>("slider").oninput = (event) => app.change({ step: app.line.steps[Number((event.target as HTMLInputElement).value)], follow: false });
    byId<HTMLInputElement>("follow").onchange = () => this.press("f");
    byId("help").onclick = () => this.showHelp(false);
    for (const button of document.querySelectorAll<HTMLElement>("[data-key]")) button.onclick = () => this.press(button.dataset.key!);
    window.addEventListener("keydown", (event) => {
      if (this.hearKey(event)) event.preventDefault();
    });
    window.addEventListener("resize", () => app.scene.resize());
    matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => this.look());
    this.listenToPointer();
  }

  /** False if the key means nothing here, or something to the control that has the focus. */
  private hearKey(event: KeyboardEvent): boolean {
    const { key, target, ctrlKey, metaKey, altKey, shiftKey } = event;
    const kind = target instanceof HTMLInputElement ? target.type : target instanceof HTMLElement ? target.localName : "";
    if (altKey || kind === "number" || kind === "select") return key === "Escape" && this.letGo(target);
    if ((ctrlKey || metaKey) && key === "z") return this.press("u");
    const isArrow = key in arrows;
    if (kind === "range" && (isArrow || key === "Home" || key === "End")) return false;
    if (kind !== "canvas" && kind !== "body" && (key === " " || key === "Enter")) return false;
    if (isArrow && shiftKey) return this.turn(...arrows[key]);
    if (isArrow && ctrlKey) return this.moveBeside(...arrows[key]);
    return !ctrlKey && !metaKey && this.press(plainKeys[key] ?? key);
  }

  /** The keys are those of the page again. */
  private letGo(target: EventTarget | null): boolean {
    if (target instanceof HTMLElement) target.blur();
    this.setBoxing(false);
    this.showHelp(false);
    return true;
  }

  private turn(x: number, y: number): boolean {
    const { app } = this;
    app.change({ along: "", flat: app.scene.isFlat, camera: turned(app.view.along ? corner : app.scene.getCamera(), -x * turn, y * turn), zoom: app.view.along ? 1 : app.scene.zoom });
    return true;
  }

  private moveBeside(x: number, y: number): boolean {
    const { scene } = this.app;
    const { right, up } = scene.directions();
    this.app.change({ camera: shifted(scene.getCamera(), right.map((r, i) => -(x * r + y * up[i]) * (moveBy / scene.zoom))), zoom: scene.zoom });
    return true;
  }

  private nearer(factor: number): void {
    const { scene } = this.app;
    if (scene.isFlat) this.app.change({ camera: scene.getCamera(), zoom: scene.zoom * factor });
    else this.app.change({ camera: farther(scene.getCamera(), 1 / factor) });
  }

  private setBoxing(boxing: boolean): void {
    this.boxing = boxing;
    const button = document.querySelector<HTMLElement>('#top [data-key="b"]')!;
    button.classList.toggle("on", boxing);
    button.ariaPressed = String(boxing);
    this.app.scene.canvas.classList.toggle("boxing", boxing);
  }

  private showHelp(shown: boolean): void {
    const box = byId("help");
    if (box.hidden === !shown) return;
    box.hidden = !shown;
    if (shown) byId("close").focus();
    else this.app.scene.canvas.focus();
  }

  private togglePanel(): void {
    const closed = document.body.classList.toggle("without-panel");
    document.querySelector('#top [data-key="m"]')!.ariaExpanded = String(!closed);
    this.app.scene.resize();
    this.panel.update();
  }

  /** What a key or a button does; false if nothing. */
  press(key: string): boolean {
    const { app } = this;
    const { view } = app;
    const actions: Record<string, () => void> = {
      r: () => app.change({ along: "", camera: null, flat: false, zoom: 1 }),
      o: () => app.change({ along: "", flat: !app.scene.isFlat, camera: view.along ? null : app.scene.getCamera(), zoom: 1 }),
      "[": () => app.go(-1),
      "]": () => app.go(1),
      Home: () => app.change({ step: app.line.steps[0] ?? null, follow: false }),
      End: () => app.change({ step: app.line.steps[app.line.steps.length - 1] ?? null, follow: false }),
      " ": () => app.play(!app.playing),
      f: () => app.change(view.follow ? { follow: false, step: app.step?.step ?? null } : { follow: true, step: null }),
      "+": () => this.nearer(nearerBy),
      "-": () => this.nearer(1 / nearerBy),
      a: () => app.change({ box: null, filters: {} }),
      b: () => this.setBoxing(!this.boxing),
      i: () => app.change(app.gridLook() ? { map: invertedMap(view.map) } : { pointMap: invertedMap(view.pointMap) }),
      u: () => {
        app.undo();
        this.panel.redraw();
      },
      l: () => void this.copyLink(),
      s: () => void this.save().catch((error) => app.fail(error)),
      m: () => this.togglePanel(),
      t: () => {
        view.theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
        this.look();
        app.change({});
      },
      "?": () => this.showHelp(!!byId("help").hidden),
      Escape: () => void this.letGo(null),
      Enter: () => void this.click(...this.middle()),
    };
    for (const axis of axes) actions[axis] = () => app.change({ along: axis, camera: null, zoom: 1 });
    modes.forEach((mode, i) => (actions[String(i + 1)] = () => app.change({ mode })));
    if (!Object.hasOwn(actions, key)) return false;
    actions[key]();
    return true;
  }

  private async copyLink(): Promise<void> {
    const link = new URL(this.app.link(), location.href).href;
    history.replaceState(null, "", link);
    const copied = await navigator.clipboard?.writeText(link).then(() => true, () => false);
    const warning = /\/t\/[^/]+\/$/.test(location.pathname) ? " It has the token in it: whoever has the link can see the data." : "";
    this.note((copied ? "The link to this view is copied." : `The link to this view: ${link}`) + warning);
  }

  /** The labels of the axes, where they are on the canvas. */
  private labelsInPicture(): Label[] {
    const spans = [...byId("labels").children].filter((e) => e.checkVisibility());
    return spans.map((span) => {
      const { left, top, width, height } = span.getBoundingClientRect();
      const [x, y] = this.onCanvas(left + width / 2, top + height / 2);
      return { text: span.textContent ?? "", x, y };
    });
  }

  private async save(): Promise<void> {
    const { app } = this;
    const { view, step, scene } = app;
    const drawn = await scene.picture();
    const caption = step ? `${view.run}, step ${step.step}, t = ${number(step.time)}` : view.run;
    const picture = drawn && (view.bare ? drawn : await compose(drawn, scene.canvas.width / scene.canvas.clientWidth, caption, this.bars(), this.labelsInPicture()));
    if (!picture) throw new Error("The browser gives no picture.");
    const url = URL.createObjectURL(picture);
    h("a", { href: url, download: `${view.run}_${step?.step ?? 0}.png` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    this.note("The picture is saved.");
  }

  private listenToPointer(): void {
    const { app } = this;
    const { canvas } = app.scene;
    const rubber = byId("rubber");
    const down = new Set<number>(); // pointers
    let start: PointerEvent | null = null; // of what may be a click or a box
    let choosing = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const letGo = (event: PointerEvent) => {
      down.delete(event.pointerId);
      rubber.hidden = true;
      if (!down.size) app.scene.controls.enabled = true;
    };
    canvas.addEventListener("pointerdown", (event) => {
      down.add(event.pointerId);
      start = down.size === 1 ? event : null; // two fingers neither click nor choose
      choosing = start !== null && (event.shiftKey || this.boxing);
      app.scene.controls.enabled = !choosing;
      if (choosing) canvas.setPointerCapture(event.pointerId);
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
      if (!event.buttons && event.pointerType !== "touch") timer = setTimeout(() => void this.point(event.clientX, event.clientY), 80);
    });
    canvas.addEventListener("pointercancel", (event) => {
      start = null;
      letGo(event);
    });
    canvas.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "touch") return; // a finger that is lifted leaves, too
      clearTimeout(timer);
      byId("tip").hidden = true;
    });
    canvas.addEventListener("pointerup", (event) => {
      const begun = start;
      start = null;
      letGo(event);
      if (!begun) return;
      const far = Math.hypot(event.clientX - begun.clientX, event.clientY - begun.clientY) > 4;
      if (choosing && far) {
        app.selectBox(...this.onCanvas(begun.clientX, begun.clientY), ...this.onCanvas(event.clientX, event.clientY));
        this.setBoxing(false);
      }
      else if (!far && begun.button === 0) void this.click(event.clientX, event.clientY);
    });
  }

  private onCanvas(x: number, y: number): [number, number] {
    const box = this.app.scene.canvas.getBoundingClientRect();
    return [x - box.left, y - box.top];
  }

  /** The middle of the picture, in the window. */
  private middle(): [number, number] {
    const box = this.app.scene.canvas.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
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
    if (!tip.hidden && tip.textContent === shown) show(withUnit(number(value), under.valueUnit));
  }

  private async click(x: number, y: number): Promise<void> {
    const under = this.app.under(...this.onCanvas(x, y));
    if (!under) return;
    await this.point(x, y);
    if (under.sample && this.app.line.steps.length > 1) await this.panel.showSeries(under.sample, under.name).catch((error) => this.app.fail(error));
  }
}
