// app.ts -- brings together what is looked at (a view), where data come from (a source), and what
// draws them (a scene). A change of the view goes through change(); everything follows from it.
import { ApiError } from "./api.ts";
import { opacityAt } from "./colours.ts";
import type { Progress } from "./loader.ts";
import { boxIn, finiteRange, frameOf, gridOf, isInfinite, isPresent, magnitude, modeOf, pointScale, recorded, samplesIn, setOf, slicesOf, widened, withDefaults, type GridLook } from "./look.ts";
import { clip, lineOf, march, meetPlane, pointAt, type Look } from "./pick.ts";
import { Drawing } from "./drawing.ts";
import type { Vector } from "./plan.ts";
import { Plot, plotLevel } from "./plot.ts";
import { planQualities, Points } from "./points.ts";
import { centreOf, lengthOf, Scene } from "./scene.ts";
import type { Particles, Source, Step, Variable, Which } from "./source.ts";
import { Recent } from "./recent.ts";
import { axes, fresh, toHash, whereText, type View } from "./state.ts";
import { nameWith } from "./vectors.ts";
import { indexOf, moved, noSteps, withoutStep, withStep, type Timeline } from "./timeline.ts";
import { Undo } from "./undo.ts";

/** Milliseconds until one looks again for the first dataset. */
const awaitDatasets = 2000;

export type Phase = "loading" | "coarse" | "refining" | "complete";

/** What is under the pointer. */
export interface Under {
  place: Vector; // coordinates
  unit: string;
  sample: number[] | null; // of a grid, in the order of its shape
  name: string;
  value: number | null;
  valueUnit: string;
}

export interface Listener {
  /** The view, the step or the steps are others. */
  changed(): void;
  /** A frame is drawn, or more data are there. */
  progressed(): void;
  failed(message: string): void;
  /** What is asked for is known again: an error before is over. */
  worked(): void;
  /** What people want to know for a moment. */
  noted(message: string): void;
}

/** Which particles are there: the first ones, all that are wanted; settled: or no more will come. */
const noPoints = { first: true, all: true, settled: true, quality: 0 };

export class App {
  view: View = fresh();
  runs: string[] = [];
  line: Timeline = noSteps;
  step: Step | null = null;
  playing = false;
  loader: Drawing | null = null;
  private loaderKey = "";
  private readonly finite = new Recent<string, [number, number]>(1000); // ranges of variables with infinite values
  readonly points = new Points();
  readonly plot = new Plot();
  readonly scene: Scene;
  private readonly stepCache = new Recent<number, Step>(64);
  private readonly undone = new Undo();
  private stopFollowing: (() => void) | null = null;
  private loadedRun = "";
  private pointsKey = "";
  private pointsUnderWay = 0; // number of the latest request
  private pointsThere = noPoints;
  private complete = false; // the last frame shows all that is wanted
  private syncing = 0;
  private synced = 0; // the last of these that came to its end
  private unaimed = false; // nobody has said yet from where to look
  private firstBytes: number | null = null;
  private readonly begun = performance.now();
  private firstPicture: number | null = null; // in milliseconds, as 'begun'
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly source: Source, canvas: HTMLCanvasElement, private readonly listener: Listener) {
    this.scene = new Scene(canvas, () => this.prepare(), () => this.drawn(), () => this.rested(), () => this.loader?.restore());
    this.scene.setPoints(this.points);
  }

  /** Show a view from the beginning. */
  async open(view: View): Promise<void> {
    this.view = view;
    this.unaimed = !view.along && !view.camera && !view.flat;
    try {
      const found = this.findRuns(); // a link that names one need not wait for all
      if (!this.view.run) await found;
      if (!this.view.run) await this.takeFirst(view);
      if (this.view !== view) return;
      const { step } = view; // a step that was deleted is told, and the one before it is shown
      this.aim();
      await Promise.all([found, this.sync()]);
      if (step !== null && this.view === view && this.step && this.step.step !== step) this.listener.noted(`There is no step ${step}; this is step ${this.step.step}.`);
    } catch (error) {
      this.fail(error);
    }
  }

  /** The first dataset; if there is none, wait for one. */
  private async takeFirst(view: View): Promise<void> {
    while (this.view === view && !this.runs.length) {
      this.fail("There is no dataset yet. The first one appears here when it is written.");
      await new Promise((resolve) => setTimeout(resolve, awaitDatasets));
      await this.findRuns().catch((error) => this.fail(error));
    }
    if (!view.run) view.run = this.runs[0];
  }

  /** Datasets can come while others are looked at. */
  async findRuns(): Promise<void> {
    const runs = await this.source.runs();
    if (runs.join("\n") === this.runs.join("\n")) return;
    this.runs = runs;
    this.listener.changed();
  }

  /** Another dataset, from its last step; colours and the like stay. */
  choose(run: string): void {
    this.unaimed = true;
    this.change({ run, step: null, grid: "", component: 0, tint: "", tintComponent: 0, tintRange: null, range: null, iso: null, slices: {}, particles: "", colour: "", pointRange: null, filters: {}, box: null, along: "", camera: null, zoom: 1 });
  }

  /** As it was before the last choice. */
  undo(): void {
    const before = this.undone.back();
    if (!before) return this.listener.noted("There is nothing to undo.");
    Object.assign(this.view, before);
    this.change({});
  }

  /** Another view: what differs is fetched and drawn. */
  change(change: Partial<View>): void {
    this.undone.remember(this.view, change, performance.now());
    Object.assign(this.view, change);
    if ("along" in change || "camera" in change || "flat" in change) this.aim();
    const done = this.sync();
    const turn = this.syncing;
    done.catch((error) => turn === this.syncing && this.fail(error)); // of an older view nobody wants to know
  }

  private aim(): void {
    const { along, camera, flat, zoom } = this.view;
    if (along) {
      this.scene.setAlong(along);
      if (camera) this.scene.shift(camera);
    } else {
      this.scene.setFlat(flat);
      camera ? this.scene.setCamera(camera) : this.scene.reset();
    }
    if (zoom !== this.scene.zoom) this.scene.setZoom(zoom);
  }

  fail(error: unknown): void {
    // The step was rewritten, or is gone: look again.
    if (error instanceof ApiError && error.code === 409 && this.step) {
      this.stepCache.delete(this.step.step);
      this.step = null;
      void this.sync().catch((again) => this.fail(again));
      return;
    }
    this.listener.failed(error instanceof Error ? error.message : String(error));
  }

  link(): string {
    const camera = this.scene.getCamera();
    const middle = camera.slice(3).every((v) => v === 0);
    return toHash({ ...this.view, camera: this.view.along && middle ? null : camera, zoom: this.scene.zoom });
  }

  // ---- steps --------------------------------------------------------------

  private async loadRun(): Promise<void> {
    if (this.loadedRun === this.view.run) return;
    const name = this.view.run;
    const turn = this.syncing;
    // Both at once: the step that a link names is mostly there.
    const [run, step] = await Promise.all([this.source.run(name), this.source.step(name, this.view.step ?? "last").catch(() => null)]);
    if (turn !== this.syncing) return; // a late answer would take away what is shown by now
    this.loadedRun = name;
    this.line = { steps: run.steps, times: run.times };
    this.stepCache.clear();
    if (step) this.stepCache.set(step.step, step);
    this.step = null;
    this.stopFollowing?.();
    this.stopFollowing = this.source.follow(name, {
      steps: (steps, times) => this.hearSteps({ steps, times }),
      step: (step, time) => this.hearStep(step, time),
      removed: (step) => this.hearRemoved(step),
    });
  }

  private hearSteps(line: Timeline): void {
    const same = line.steps.length === this.line.steps.length && line.steps.every((s, i) => s === this.line.steps[i]);
    this.line = line;
    if (!same) this.stepCache.clear();
    if (!same && (this.view.follow || this.view.step === null)) this.change({ step: null });
    else if (this.step && !line.steps.includes(this.step.step)) this.leave(this.step.step);
    this.listener.changed();
  }

  private hearRemoved(step: number): void {
    const shown = this.step?.step === step;
    this.hearSteps(withoutStep(this.line, step));
    if (shown) this.listener.noted(`Step ${step} was deleted.`);
  }

  /** The step that is shown is not there any more: the one before it, or nothing. */
  private leave(step: number): void {
    const { steps } = this.line;
    this.change({ step: steps.length ? steps[indexOf(this.line, step)] : null });
  }

  /** Nothing is shown. */
  private empty(): void {
    this.step = null;
    this.dropGrid();
    this.plot.hide();
    this.syncPoints();
    this.listener.changed();
    this.scene.ask();
  }

  private hearStep(step: number, time: number): void {
    this.line = withStep(this.line, step, time);
    this.stepCache.delete(step);
    const last = this.line.steps[this.line.steps.length - 1] === step;
    if (this.step?.step === step) this.step = null; // it was rewritten
    if (this.view.follow && last) this.view.step = null;
    if (this.view.step === null || this.step === null) this.change({});
    this.listener.changed();
  }

  go(by: number): void {
    const step = moved(this.line, this.view.step, by, this.playing);
    this.change({ step, follow: false });
  }

  play(playing: boolean): void {
    this.playing = playing;
    clearTimeout(this.timer);
    const next = () => {
      if (!this.playing) return;
      if (this.hasPicture()) this.go(1);
      this.timer = setTimeout(next, 250);
    };
    if (playing) next();
    this.listener.changed();
  }

  // ---- from the view to what is drawn -----------------------------------------

  private async sync(): Promise<void> {
    const turn = ++this.syncing;
    this.complete = false;
    await this.loadRun();
    if (turn !== this.syncing) return;
    if (this.line.steps.length === 0) {
      this.empty();
      throw new Error(`'${this.view.run}' has no steps yet. They appear here as they are written.`);
    }
    const number = this.line.steps[indexOf(this.line, this.view.step)];
    let step = this.stepCache.get(number);
    if (!step) {
      step = await this.source.step(this.view.run, number);
      if (turn !== this.syncing) return; // by now it may be one of another run, or rewritten
      this.stepCache.set(number, step);
    }
    if (turn !== this.syncing) return;
    Object.assign(this.view, withDefaults(step, this.view));
    await this.findRanges(step);
    if (turn !== this.syncing) return;
    this.step = step;
    if (this.unaimed && this.dims() < axes.length) {
      this.view.along = "z";
      this.aim();
    }
    this.unaimed = false;
    this.scene.setFrame(frameOf(this.gridLook(), this.set()));
    this.listener.worked();
    this.syncGrid();
    this.syncPoints();
    this.synced = turn;
    this.listener.changed();
    this.scene.ask();
    if (!this.gridLook() && !this.set()) this.explainNothing(step);
  }

  /** Why there is no picture. */
  private explainNothing(step: Step): void {
    const { grid, particles } = this.view;
    this.fail(grid || particles ? `Step ${step.step} has no '${grid || particles}'.` : `Step ${step.step} has no grid of one to three axes, and no particles.`);
  }

  gridLook(): GridLook | null {
    return this.step && gridOf(this.step, this.view);
  }
  set(): Particles | null {
    return this.step && setOf(this.step, this.view);
  }
  /** Axes of what is shown. */
  dims(): number {
    return Math.max(this.gridLook()?.dims ?? 0, this.set()?.dims ?? 0) || axes.length;
  }
  which(object: string): Which {
    return { run: this.loadedRun, step: this.step!.step, tag: this.step!.tag, object };
  }
  range(look: GridLook): [number, number] {
    return this.view.range ?? this.known(look, look.variable, look.component);
  }
  tintRange(look: GridLook): [number, number] {
    return this.view.tintRange ?? (look.tint ? this.known(look, look.tint, look.tintComponent) : [0, 1]);
  }
  private known(look: GridLook, variable: Variable, component: number): [number, number] {
    return this.finite.get(this.finiteKey(look, variable, component)) ?? recorded(variable, component);
  }
  private finiteKey(look: GridLook, variable: Variable, component: number): string {
    return JSON.stringify([this.which(look.grid.name), variable.name, component]);
  }

  /** Ranges that are infinite tell nothing: take those of the coarsest level. */
  private async findRanges(step: Step): Promise<void> {
    const look = gridOf(step, this.view);
    if (!look || !this.source.floats) return;
    for (const [variable, component] of [[look.variable, look.component], [look.tint, look.tintComponent]] as const) {
      if (!variable || !isInfinite(variable) || component === magnitude) continue;
      const which = { run: this.loadedRun, step: step.step, tag: step.tag, object: look.grid.name };
      const key = JSON.stringify([which, variable.name, component]);
      if (this.finite.get(key)) continue;
      const box = look.grid.shape.map((n) => [0, n] as [number, number]);
      const found = finiteRange(await this.source.floats({ ...which, variable: variable.name, component, level: look.grid.levels - 1, box }));
      this.finite.set(key, found ? widened(...found) : [0, 1]);
    }
  }
  pointRange(set: Particles): [number, number] {
    const variable = set.variables.find((v) => v.name === this.view.colour);
    return this.view.pointRange ?? (variable ? recorded(variable, 0) : [0, 1]);
  }

  private placement(look: GridLook): { scale: Vector; offset: Vector } {
    const centre = centreOf(this.scene.frame);
    const length = lengthOf(this.scene.frame);
    return {
      scale: look.spacing.map((s) => s / length) as Vector,
      offset: look.origin.map((o, i) => (o - 0.5 * look.spacing[i] - centre[i]) / length) as Vector,
    };
  }

  private syncGrid(): void {
    const look = this.gridLook();
    if (look && this.plot.takes(this.source, look)) return this.syncPlot(look);
    this.plot.hide();
    if (!look) return this.dropGrid();
    const { view } = this;
    const mode = modeOf(look.dims, view);
    const slices = mode === "slices" ? slicesOf(look, view) : {};
    const sliced = mode === "slices" ? axes.filter((axis) => slices[axis] !== undefined) : null;
    const key = Drawing.keyOf(look, sliced);
    if (!this.loader || this.loaderKey !== key) {
      this.loader?.dispose();
      this.loaderKey = key;
      this.loader = new Drawing(this.source, this.scene.renderer, look, sliced, () => this.arrived(), (error) => this.fail(error));
      this.scene.setVolume(this.loader.volumes);
    }
    const { scale, offset } = this.placement(look);
    const range = this.range(look);
    this.loader.show({
      which: this.which(look.grid.name), look, mode, slices, box: samplesIn(look, this.scene.frame, view), scale, offset,
      camera: this.scene.planCamera(scale, offset), finest: view.level, map: view.map, stops: view.stops, range, tintRange: this.tintRange(look),
      iso: view.iso ?? (range[0] + range[1]) / 2, nearest: view.nearest,
    });
  }

  private dropGrid(): void {
    this.scene.setVolume(null);
    this.loader?.dispose();
    this.loader = null;
  }

  /** A grid of one axis is a curve. */
  private syncPlot(look: GridLook): void {
    this.dropGrid();
    const box = samplesIn(look, this.scene.frame, this.view);
    const part: [number, number] = [Math.floor(box.low[0]), Math.ceil(box.high[0])];
    const request = { ...this.which(look.grid.name), level: Math.max(plotLevel(part[1] - part[0], look.grid.levels), this.view.level), box: [part] };
    void this.plot.show(this.source, look, request, this.view.range, () => this.arrived()).catch((error) => this.fail(error));
  }

  private syncPoints(): void {
    const set = this.set();
    if (!set) {
      this.points.clear();
      this.pointsKey = "";
      this.pointsUnderWay++;
      this.pointsThere = noPoints;
      return;
    }
    this.points.setColours(this.view.pointMap);
    this.points.uniforms.uRange.value.set(...this.pointRange(set));
    const key = JSON.stringify([this.which(set.name), this.view.colour, this.view.filters, this.view.box, this.view.quality, this.scene.frame]);
    if (key === this.pointsKey) return;
    this.pointsKey = key;
    const turn = ++this.pointsUnderWay;
    void this.loadPoints(set, turn).catch((error) => {
      if (turn !== this.pointsUnderWay) return; // others are wanted by now
      this.pointsKey = "";
      this.pointsThere = { ...this.pointsThere, settled: true };
      this.fail(error);
      this.scene.ask();
    });
  }

  private async loadPoints(set: Particles, turn: number): Promise<void> {
    const centre = centreOf(this.scene.frame);
    const length = lengthOf(this.scene.frame);
    const position = set.variables[0].name;
    const coloured = set.variables.some((v) => v.name === this.view.colour && isPresent(v));
    const box = this.view.box ? boxIn(this.scene.frame, this.view) : null;
    const request = {
      ...this.which(set.name), variables: coloured ? [position, this.view.colour] : [position], origin: centre.slice(0, set.dims),
      box: box && (box.low.map((l, i) => [l, box.high[i]]).slice(0, set.dims) as [number, number][]), where: whereText(this.view.filters),
    };
    this.pointsThere = { first: false, all: false, settled: false, quality: 0 };
    for (const [from, quality] of planQualities(set.count, this.view.quality)) {
      const got = await this.source.particles({ ...request, from, quality });
      if (turn !== this.pointsUnderWay) return;
      if (from === 0) this.points.clear();
      const places = got.columns.get(position)!.data;
      const positions = new Float32Array(3 * got.count);
      for (let i = 0; i < got.count; i++) for (let c = 0; c < set.dims; c++) positions[3 * i + c] = places[set.dims * i + c] / length;
      const values = coloured ? got.columns.get(this.view.colour)!.data : new Float32Array(got.count).fill(0.6);
      this.points.add(positions, values);
      this.pointsThere = { first: true, all: false, settled: false, quality };
      this.arrived();
    }
    if (this.points.count && this.pointsThere.quality === 0) this.points.clear();
    this.pointsThere = { ...this.pointsThere, first: true, all: true, settled: true };
    this.scene.ask();
  }

  // ---- frames --------------------------------------------------------------------

  /** The view rests: refine what it shows. */
  private rested(): void {
    if (!this.step) return;
    this.syncGrid();
    this.listener.changed();
  }

  private prepare(): void {
    this.loader?.update();
    this.scene.hasty = !this.isSettled();
    this.scene.setPointSize(0.005 * this.view.size * pointScale(this.set()?.count ?? 0));
  }

  /** More data are there. */
  private arrived(): void {
    if (this.firstBytes === null && (!this.loader || this.loader.canShow()) && this.pointsThere.first) this.firstBytes = this.source.bytes();
    this.scene.ask();
  }

  private isComplete(): boolean {
    return (!this.loader || (this.loader.hasPicture() && this.loader.progress().complete)) && this.pointsThere.all && !this.plot.waits;
  }
  /** Nothing more will come. */
  private isSettled(): boolean {
    return (!this.loader || this.loader.progress().settled) && this.pointsThere.settled && !this.plot.waits;
  }

  hasPicture(): boolean {
    return this.step !== null && (!this.loader || this.loader.hasPicture()) && this.pointsThere.first && !this.plot.waits;
  }

  private drawn(): void {
    if (this.hasPicture()) this.firstPicture ??= performance.now();
    this.complete = this.synced === this.syncing && this.step !== null && !this.scene.moving && !this.scene.hasty && this.isComplete();
    this.listener.progressed();
  }

  progress(): { grid: Progress | null; points: { count: number; quality: number; all: boolean } } {
    return { grid: this.loader?.progress() ?? null, points: { count: this.points.count, quality: this.pointsThere.quality, all: this.pointsThere.all } };
  }

  phase(): Phase {
    if (!this.hasPicture()) return "loading";
    return this.complete ? "complete" : this.isComplete() ? "refining" : "coarse";
  }

  /** For tests, and for those who are curious. */
  state(): Record<string, unknown> {
    const { grid, points } = this.progress();
    return {
      phase: this.phase(), run: this.loadedRun, step: this.step?.step ?? null, steps: [...this.line.steps], grid: this.view.grid,
      level: grid?.level ?? null, bricks: grid?.there ?? 0, wanted: grid?.wanted ?? 0, error: grid?.error ?? null,
      slots: this.loader?.slots ?? 0, atlasBytes: this.loader?.bytes ?? 0, points: points.count, quality: points.quality,
      bytes: this.source.bytes(), firstBytes: this.firstBytes, begun: this.begun, firstPicture: this.firstPicture, playing: this.playing, link: this.link(),
    };
  }

  // ---- under the pointer -------------------------------------------------------------

  /** At a place on the screen in pixels; without the value of a grid, which is to be asked for. */
  under(x: number, y: number): Under | null {
    const { clientWidth: width, clientHeight: height } = this.scene.canvas;
    const centre = centreOf(this.scene.frame);
    const length = lengthOf(this.scene.frame);
    const set = this.set();
    const point = set && this.points.pick(this.scene.matrix(), width, height, x, y, 5);
    if (set && point) {
      const variable = set.variables.find((v) => v.name === this.view.colour);
      return {
        place: point.position.map((p, i) => p * length + centre[i]) as Vector, unit: set.unit ?? "", sample: null,
        name: this.view.colour, value: variable ? point.value : null, valueUnit: variable?.unit ?? "",
      };
    }
    const look = this.gridLook();
    const u = look && this.sampleUnder(look, (2 * x) / width - 1, 1 - (2 * y) / height);
    if (!look || !u) return null;
    const index = u.map((v, i) => Math.min(Math.max(Math.floor(v), 0), look.shape[i] - 1));
    const place = index.map((i, a) => look.origin[a] + i * look.spacing[a]) as Vector;
    const sample = [...index].reverse().slice(3 - look.dims);
    return { place, unit: look.grid.unit ?? "", sample, name: nameWith(look.variable, look.component), value: null, valueUnit: look.variable.unit ?? "" };
  }

  private sampleUnder(look: GridLook, x: number, y: number): Vector | null {
    const { loader } = this;
    if (!loader) return null;
    const ray = this.scene.ray(x, y);
    const { scale, offset } = this.placement(look);
    const line = lineOf(ray.origin.toArray(), ray.direction.toArray(), scale, offset);
    const { low, high } = samplesIn(look, this.scene.frame, this.view);
    const mode = modeOf(look.dims, this.view);
    if (mode === "slices") {
      const slices = slicesOf(look, this.view);
      const hits = axes.map((axis, i) => (slices[axis] === undefined ? null : meetPlane(line, i, slices[axis]!, low, high)));
      const near = hits.filter((t): t is number => t !== null);
      return near.length ? pointAt(line, Math.min(...near)) : null;
    }
    const part = clip(line, low, high);
    if (!part || !loader.drawn) return null;
    const { low: a, high: b } = loader.drawn;
    const [rangeLow, rangeHigh] = this.range(look);
    const where = (byte: number) => (a + ((byte - 1) / 254) * (b - a) - rangeLow) / (rangeHigh - rangeLow);
    const iso = this.view.iso ?? (rangeLow + rangeHigh) / 2;
    const kinds: Record<string, Look> = {
      max: { kind: "max" },
      iso: { kind: "iso", byte: 1 + (254 * (iso - a)) / (b - a) },
      volume: { kind: "volume", opacity: (byte) => opacityAt(this.view.stops, where(byte)), dense: loader.volumes[0].uniforms.uDense.value },
    };
    return march(line, this.scene.isFlat ? part[0] : Math.max(part[0], 0), part[1], (u) => loader.byteAt(u), kinds[mode]);
  }

  /** Take what is in a rectangle of the screen as the box, on the two axes that are seen best. */
  selectBox(x0: number, y0: number, x1: number, y1: number): void {
    const { clientWidth: width, clientHeight: height } = this.scene.canvas;
    const middle = this.scene.ray(0, 0).direction.toArray().map(Math.abs);
    const axis = middle.indexOf(Math.max(...middle));
    const length = lengthOf(this.scene.frame);
    const box = [...(this.view.box ?? [0, 1, 0, 1, 0, 1])];
    const corners = [[x0, y0], [x1, y1], [x0, y1], [x1, y0]].map(([x, y]) => {
      const ray = this.scene.ray((2 * x) / width - 1, 1 - (2 * y) / height);
      const t = -ray.origin.getComponent(axis) / ray.direction.getComponent(axis);
      return ray.at(t, ray.origin.clone()).toArray();
    });
    for (let i = 0; i < 3; i++) {
      if (i === axis) continue;
      const side = (this.scene.frame.high[i] - this.scene.frame.low[i]) / length || 1;
      const parts = corners.map((c) => Math.min(Math.max(c[i] / side + 0.5, 0), 1));
      const [a, b] = [Math.min(...parts), Math.max(...parts)];
      if (b - a < 0.005) return;
      box[2 * i] = a;
      box[2 * i + 1] = b;
    }
    this.change({ box });
  }
}
