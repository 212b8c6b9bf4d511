// app.ts -- brings together what is looked at (a view), where data come from (a source), and what
// draws them (a scene). A change of the view goes through change(); everything follows from it.
import { ApiError } from "./api.ts";
import { opacityAt } from "./colours.ts";
import { Loader, type Progress, type Shown } from "./loader.ts";
import { boxIn, frameOf, gridOf, isPresent, pointScale, recorded, setOf, slicesOf, toSamples, withDefaults, type GridLook } from "./look.ts";
import { clip, lineOf, march, meetPlane, pointAt, type Look } from "./pick.ts";
import { brickSize, bricksOf, type Pyramid, type Vector } from "./plan.ts";
import { planQualities, Points } from "./points.ts";
import { centreOf, lengthOf, Scene } from "./scene.ts";
import type { Particles, Source, Step, Which } from "./source.ts";
import { axes, fresh, toHash, whereText, type View } from "./state.ts";
import { indexOf, moved, noSteps, withoutStep, withStep, type Timeline } from "./timeline.ts";
import { Undo } from "./undo.ts";
import { Volume } from "./volume.ts";

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

export class App {
  view: View = fresh();
  runs: string[] = [];
  line: Timeline = noSteps;
  step: Step | null = null;
  playing = false;
  loader: Loader | null = null;
  readonly points = new Points();
  readonly scene: Scene;
  private readonly stepCache = new Map<number, Step>();
  private readonly undone = new Undo();
  private stopFollowing: (() => void) | null = null;
  private loadedRun = "";
  private pointsKey = "";
  private pointsUnderWay = 0; // number of the latest request
  private pointsThere = { first: true, all: true, quality: 0 };
  private complete = false; // the last frame shows all that is wanted
  private syncing = 0;
  private firstBytes: number | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly source: Source, canvas: HTMLCanvasElement, private readonly listener: Listener) {
    this.scene = new Scene(canvas, () => this.prepare(), () => this.drawn(), () => this.rested());
    this.scene.setPoints(this.points);
  }

  /** Show a view from the beginning. */
  async open(view: View): Promise<void> {
    this.view = view;
    try {
      await this.findRuns();
      if (!this.view.run && this.runs.length) this.view.run = this.runs[0];
      if (!this.view.run) throw new Error("No dataset is served.");
      this.aim();
      await this.sync();
    } catch (error) {
      this.fail(error);
    }
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
    this.change({ run, step: null, grid: "", component: 0, range: null, iso: null, slices: {}, particles: "", colour: "", pointRange: null, filters: {}, box: null, along: "", camera: null, zoom: 1 });
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
    const run = await this.source.run(name);
    this.loadedRun = name;
    this.line = { steps: run.steps, times: run.times };
    this.stepCache.clear();
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
    this.scene.setVolume(null);
    this.loader = null;
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
      this.stepCache.set(number, step);
    }
    if (turn !== this.syncing) return;
    const defaults = withDefaults(step, this.view);
    Object.assign(this.view, defaults);
    this.step = step;
    if (defaults.along) this.aim();
    this.scene.setFrame(frameOf(this.gridLook(), this.set()));
    this.listener.worked();
    this.syncGrid();
    this.syncPoints();
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
  which(object: string): Which {
    return { run: this.loadedRun, step: this.step!.step, tag: this.step!.tag, object };
  }
  range(look: GridLook): [number, number] {
    return this.view.range ?? recorded(look.variable, look.component);
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
    if (!look) {
      this.scene.setVolume(null);
      this.loader = null;
      return;
    }
    const pyramid: Pyramid = { shape: look.shape, levels: look.grid.levels, size: brickSize(look.shape) };
    if (!this.loader || JSON.stringify(this.loader.volume.pyramid) !== JSON.stringify(pyramid)) {
      let needed = 0;
      for (let level = 0; level < pyramid.levels; level++) needed += bricksOf(pyramid, level).reduce((a, b) => a * b);
      const volume = new Volume(this.scene.renderer, pyramid, 2 * needed); // two steps, if they are small
      this.scene.setVolume(volume);
      this.loader = new Loader(this.source, volume, () => this.arrived(), (error) => this.fail(error));
    }
    const { volume } = this.loader;
    const { scale, offset } = this.placement(look);
    const box = boxIn(this.scene.frame, this.view);
    const low = toSamples(look, box.low);
    const high = toSamples(look, box.high);
    volume.setPlace(scale, offset, low, high);
    volume.setColours(this.view.map, this.view.stops);
    const slices = slicesOf(look, this.view);
    axes.forEach((axis, i) => volume.setPlane(i, this.view.mode === "slices" ? slices[axis] ?? null : null));
    this.scene.showsVolume = this.view.mode !== "slices";
    volume.uniforms.uMode.value = { volume: 0, max: 1, iso: 2, slices: 0 }[this.view.mode];
    volume.uniforms.uNearest.value = this.view.nearest;
    const [rangeLow, rangeHigh] = this.range(look);
    const shown: Shown = { ...this.which(look.grid.name), variable: look.variable.name, component: look.component, low: rangeLow, high: rangeHigh, dims: look.dims };
    const planes = this.view.mode !== "slices" ? null
      : axes.flatMap((axis, i) => (slices[axis] === undefined ? [] : [{ axis: i as 0 | 1 | 2, at: slices[axis]! }]));
    this.loader.show(shown, { camera: this.scene.planCamera(scale, offset), finest: Math.min(this.view.level, pyramid.levels - 1), low, high, planes });
  }

  private syncPoints(): void {
    const set = this.set();
    if (!set) {
      this.points.clear();
      this.pointsKey = "";
      this.pointsUnderWay++;
      this.pointsThere = { first: true, all: true, quality: 0 };
      return;
    }
    this.points.setColours(this.view.pointMap);
    this.points.uniforms.uRange.value.set(...this.pointRange(set));
    const key = JSON.stringify([this.which(set.name), this.view.colour, this.view.filters, this.view.box, this.view.quality, this.scene.frame]);
    if (key === this.pointsKey) return;
    this.pointsKey = key;
    void this.loadPoints(set, ++this.pointsUnderWay).catch((error) => {
      this.pointsKey = "";
      this.fail(error);
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
    this.pointsThere = { first: false, all: false, quality: 0 };
    for (const [from, quality] of planQualities(set.count, this.view.quality)) {
      const got = await this.source.particles({ ...request, from, quality });
      if (turn !== this.pointsUnderWay) return;
      if (from === 0) this.points.clear();
      const places = got.columns.get(position)!.data;
      const positions = new Float32Array(3 * got.count);
      for (let i = 0; i < got.count; i++) for (let c = 0; c < set.dims; c++) positions[3 * i + c] = places[set.dims * i + c] / length;
      const values = coloured ? got.columns.get(this.view.colour)!.data : new Float32Array(got.count).fill(0.6);
      this.points.add(positions, values);
      this.pointsThere = { first: true, all: false, quality };
      this.arrived();
    }
    if (this.points.count && this.pointsThere.quality === 0) this.points.clear();
    this.pointsThere = { ...this.pointsThere, first: true, all: true };
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
    this.scene.hasty = !this.isComplete();
    this.scene.setPointSize(0.005 * this.view.size * pointScale(this.set()?.count ?? 0));
    const look = this.gridLook();
    if (!this.loader || !look) return;
    const current = this.loader.current;
    if (!current) return;
    const [low, high] = this.range(look);
    const { uRange, uIso } = this.loader.volume.uniforms;
    uRange.value.set((current.high - current.low) / (high - low), (current.low - low) / (high - low));
    uIso.value = ((this.view.iso ?? (low + high) / 2) - current.low) / (current.high - current.low);
  }

  /** More data are there. */
  private arrived(): void {
    if (this.firstBytes === null && (!this.loader || this.loader.canShow()) && this.pointsThere.first) this.firstBytes = this.source.bytes();
    this.scene.ask();
  }

  private isComplete(): boolean {
    return (!this.loader || (this.loader.hasPicture() && this.loader.progress().complete)) && this.pointsThere.all;
  }

  hasPicture(): boolean {
    return this.step !== null && (!this.loader || this.loader.hasPicture()) && this.pointsThere.first;
  }

  private drawn(): void {
    this.complete = this.step !== null && !this.scene.moving && !this.scene.hasty && this.isComplete();
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
      slots: this.loader?.volume.count ?? 0, points: points.count, quality: points.quality,
      bytes: this.source.bytes(), firstBytes: this.firstBytes, playing: this.playing, link: this.link(),
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
    return { place, unit: look.grid.unit ?? "", sample, name: look.variable.name, value: null, valueUnit: look.variable.unit ?? "" };
  }

  private sampleUnder(look: GridLook, x: number, y: number): Vector | null {
    const { loader } = this;
    if (!loader?.current) return null;
    const ray = this.scene.ray(x, y);
    const { scale, offset } = this.placement(look);
    const line = lineOf(ray.origin.toArray(), ray.direction.toArray(), scale, offset);
    const box = boxIn(this.scene.frame, this.view);
    const [low, high] = [toSamples(look, box.low), toSamples(look, box.high)];
    if (this.view.mode === "slices") {
      const slices = slicesOf(look, this.view);
      const hits = axes.map((axis, i) => (slices[axis] === undefined ? null : meetPlane(line, i, slices[axis]!, low, high)));
      const near = hits.filter((t): t is number => t !== null);
      return near.length ? pointAt(line, Math.min(...near)) : null;
    }
    const part = clip(line, low, high);
    if (!part) return null;
    const { low: a, high: b } = loader.current;
    const [rangeLow, rangeHigh] = this.range(look);
    const where = (byte: number) => (a + ((byte - 1) / 254) * (b - a) - rangeLow) / (rangeHigh - rangeLow);
    const iso = this.view.iso ?? (rangeLow + rangeHigh) / 2;
    const kinds: Record<string, Look> = {
      max: { kind: "max" },
      iso: { kind: "iso", byte: 1 + (254 * (iso - a)) / (b - a) },
      volume: { kind: "volume", opacity: (byte) => opacityAt(this.view.stops, where(byte)), dense: loader.volume.uniforms.uDense.value },
    };
    return march(line, this.scene.isFlat ? part[0] : Math.max(part[0], 0), part[1], (u) => loader.byteAt(u), kinds[this.view.mode]);
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
