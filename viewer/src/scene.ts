// scene.ts -- the camera, and the passes that draw a frame: what is solid, the volume, both.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { Camera, Vector } from "./plan.ts";
import type { Points } from "./points.ts";
import { composeFragment, wholeVertex } from "./shaders.ts";
import type { Axis } from "./state.ts";
import type { Volume } from "./volume.ts";

/** The part of space that is looked at; in the world its longest side is 1, its centre 0. */
export interface Frame {
  low: Vector;
  high: Vector;
}

export function centreOf(f: Frame): Vector {
  return f.low.map((l, i) => (l + f.high[i]) / 2) as Vector;
}
export function lengthOf(f: Frame): number {
  return Math.max(...f.low.map((l, i) => f.high[i] - l)) || 1;
}
export function sidesOf(f: Frame): Vector {
  return f.low.map((l, i) => (f.high[i] - l) / lengthOf(f)) as Vector;
}

/** Right and up on the screen, as 'bouma render' has rows and columns. */
const alongAxes: Record<Axis, { eye: Vector; up: Vector; right: number; top: number }> = {
  z: { eye: [0, 0, 1], up: [0, 1, 0], right: 0, top: 1 },
  y: { eye: [0, -1, 0], up: [0, 0, 1], right: 0, top: 2 },
  x: { eye: [1, 0, 0], up: [0, 0, 1], right: 1, top: 2 },
};

const viewAngle = 35;
/** A camera that sees all. */
export const corner: readonly number[] = [1.5, -2.3, 1.3, 0, 0, -0.03];

export class Scene {
  readonly renderer: THREE.WebGLRenderer;
  readonly controls: OrbitControls;
  private volumes: Volume[] = []; // one to march through, or slices
  points: Points | null = null;
  frame: Frame = { low: [0, 0, 0], high: [1, 1, 1] };
  moving = false;
  /** More is to come soon: a coarse frame will do. */
  hasty = false;
  private readonly perspective = new THREE.PerspectiveCamera(viewAngle, 1, 0.01, 50);
  private readonly flat = new THREE.OrthographicCamera(-1, 1, 1, -1, -50, 150);
  private readonly solid = new THREE.Scene();
  private readonly soft = new THREE.Scene();
  private readonly last = new THREE.Scene();
  private readonly outline: THREE.LineSegments;
  private readonly solidTarget: THREE.WebGLRenderTarget;
  private readonly softTarget: THREE.WebGLRenderTarget;
  private readonly compose: Record<string, THREE.IUniform>;
  private bare = false; // no margin
  private background = "#000000";
  private along: Axis | "" = "";
  private share = 0.5; // of the pixels along each axis, for hasty frames
  private asked = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly canvas: HTMLCanvasElement, private readonly prepare: () => void, private readonly drawn: () => void, private readonly rested: () => void, restored: () => void) {
    THREE.ColorManagement.enabled = false;
    const context = canvas.getContext("webgl2", { antialias: false, alpha: false, preserveDrawingBuffer: false, powerPreference: "high-performance" });
    if (!context) throw new Error("This browser has no WebGL 2, which the viewer draws with. A newer one has it, or it is turned off: see chrome://gpu or about:support.");
    this.renderer = new THREE.WebGLRenderer({ canvas, context });
    // After three.js, which listens since it was made: it has new textures by then, all of them empty.
    canvas.addEventListener("webglcontextrestored", () => {
      this.renderer.setClearColor(this.background);
      restored();
      this.ask();
    });
    this.renderer.outputColorSpace = THREE.LinearSRGBColorSpace;
    this.renderer.autoClear = true;
    this.solidTarget = new THREE.WebGLRenderTarget(1, 1, { depthTexture: new THREE.DepthTexture(1, 1, THREE.UnsignedIntType) });
    this.softTarget = new THREE.WebGLRenderTarget(1, 1, { depthBuffer: false });
    this.compose = { uSolid: { value: this.solidTarget.texture }, uVolume: { value: this.softTarget.texture }, uHasVolume: { value: false } };
    const whole = new THREE.Mesh(new THREE.PlaneGeometry(2, 2), new THREE.ShaderMaterial({
      glslVersion: THREE.GLSL3, vertexShader: wholeVertex, fragmentShader: composeFragment, uniforms: this.compose, depthTest: false, depthWrite: false,
    }));
    whole.frustumCulled = false;
    this.last.add(whole);
    this.outline = new THREE.LineSegments(new THREE.EdgesGeometry(new THREE.BoxGeometry(1, 1, 1)), new THREE.LineBasicMaterial());
    this.solid.add(this.outline);
    this.controls = new OrbitControls(this.perspective, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => this.move());
    this.reset();
  }

  get camera(): THREE.PerspectiveCamera | THREE.OrthographicCamera {
    return this.controls.object as THREE.PerspectiveCamera | THREE.OrthographicCamera;
  }
  get isFlat(): boolean {
    return this.camera === this.flat;
  }

  private move(): void {
    this.moving = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.moving = false;
      this.rested();
      this.ask();
    }, 150);
    this.ask();
  }

  /** From a corner, so that all is seen. */
  reset(): void {
    this.flat.zoom = 1;
    this.setCamera(corner);
  }

  /** One button or finger turns; along an axis it moves. */
  private setTurning(turning: boolean): void {
    this.controls.enableRotate = turning;
    this.controls.mouseButtons.LEFT = turning ? THREE.MOUSE.ROTATE : THREE.MOUSE.PAN;
    this.controls.touches.ONE = turning ? THREE.TOUCH.ROTATE : THREE.TOUCH.PAN;
  }

  setCamera(numbers: readonly number[]): void {
    this.along = "";
    this.setTurning(true);
    for (const camera of [this.perspective, this.flat]) {
      camera.up.set(0, 0, 1);
      camera.position.set(numbers[0], numbers[1], numbers[2]);
    }
    this.controls.target.set(numbers[3], numbers[4], numbers[5]);
    this.fit();
    this.controls.update();
    this.move();
  }

  /** Elsewhere, in the same direction. */
  shift(numbers: readonly number[]): void {
    this.camera.position.set(numbers[0], numbers[1], numbers[2]);
    this.controls.target.set(numbers[3], numbers[4], numbers[5]);
    this.controls.update();
    this.move();
  }

  get zoom(): number {
    return this.isFlat ? this.flat.zoom : 1;
  }
  setZoom(zoom: number): void {
    this.flat.zoom = zoom;
    this.fit();
    this.move();
  }

  /** Right and up on the screen, in the world. */
  directions(): { right: Vector; up: Vector } {
    this.camera.updateMatrixWorld();
    const [right, up] = [0, 1].map((i) => new THREE.Vector3().setFromMatrixColumn(this.camera.matrixWorld, i).toArray());
    return { right, up };
  }

  getCamera(): number[] {
    return [...this.camera.position.toArray(), ...this.controls.target.toArray()];
  }

  setFlat(flat: boolean): void {
    if (flat === this.isFlat) return;
    const to = flat ? this.flat : this.perspective;
    to.position.copy(this.camera.position);
    to.up.copy(this.camera.up);
    this.controls.object = to;
    this.fit();
    this.controls.update();
    this.move();
  }

  /** Look along an axis, without perspective. */
  setAlong(axis: Axis): void {
    const { eye, up } = alongAxes[axis];
    this.setFlat(true);
    this.along = axis;
    this.setTurning(false);
    this.flat.zoom = 1;
    this.flat.up.set(...up);
    this.flat.position.set(...(eye.map((e) => e * 2) as Vector));
    this.controls.target.set(0, 0, 0);
    this.fit();
    this.controls.update();
    this.move();
  }

  /** The window has another size. */
  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const ratio = Math.min(window.devicePixelRatio, 2);
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.fit();
    this.move();
  }

  /** Half of the height that is seen at distance 1: where the canvas is narrow, its width counts. */
  private halfHeight(): number {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    return Math.tan((viewAngle * Math.PI) / 360) / Math.min(width / Math.max(height, 1) || 1, 1);
  }

  /** Wide enough for what is looked at. */
  private fit(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const aspect = width / Math.max(height, 1);
    const sides = sidesOf(this.frame);
    let half = this.camera.position.distanceTo(this.controls.target) * this.halfHeight();
    if (this.along) {
      const { right, top } = alongAxes[this.along];
      half = Math.max(sides[top] / 2, sides[right] / 2 / aspect) * (this.bare ? 1 : 1.15);
    }
    this.flat.left = -half * aspect;
    this.flat.right = half * aspect;
    this.flat.top = half;
    this.flat.bottom = -half;
    this.flat.updateProjectionMatrix();
    this.perspective.aspect = aspect;
    this.perspective.fov = (Math.atan(this.halfHeight()) * 360) / Math.PI;
    this.perspective.updateProjectionMatrix();
  }

  setFrame(frame: Frame): void {
    this.frame = frame;
    this.outline.scale.set(...sidesOf(frame));
    this.fit();
    this.ask();
  }

  setLooks(background: string, line: string, bare: boolean): void {
    this.background = background;
    this.renderer.setClearColor(background);
    (this.outline.material as THREE.LineBasicMaterial).color.set(line);
    this.outline.visible = !bare;
    this.bare = bare;
    this.fit();
    this.ask();
  }

  /** A volume, or slices; null: none. */
  setVolume(volumes: Volume[] | null): void {
    for (const { mesh } of this.volumes) mesh.removeFromParent();
    this.volumes = volumes ?? [];
    for (const { mesh, across } of this.volumes) (across === null ? this.soft : this.solid).add(mesh);
  }

  setPoints(points: Points): void {
    this.points = points;
    this.solid.add(points.group);
  }

  matrix(): THREE.Matrix4 {
    this.camera.updateMatrixWorld();
    return new THREE.Matrix4().multiplyMatrices(this.camera.projectionMatrix, this.camera.matrixWorldInverse);
  }

  /** Pixels of a length of 1: at distance 1; anywhere without perspective. */
  private pixels(): number {
    const { height } = this.renderer.getDrawingBufferSize(new THREE.Vector2());
    if (this.isFlat) return (height * this.flat.zoom) / (this.flat.top - this.flat.bottom);
    return height / (2 * this.halfHeight());
  }

  planCamera(scale: Vector, offset: Vector): Camera {
    return { scale, offset, eye: this.camera.position.toArray(), matrix: this.matrix().elements, pixels: this.pixels(), flat: this.isFlat };
  }

  /** A ray through a place on the screen, from -1 to 1, right and up. */
  ray(x: number, y: number): THREE.Ray {
    const caster = new THREE.Raycaster();
    this.camera.updateMatrixWorld();
    caster.setFromCamera(new THREE.Vector2(x, y), this.camera);
    return caster.ray;
  }

  /** A frame soon; also where the browser gives none, as to a page that is not seen. */
  ask(): void {
    if (this.asked) return;
    this.asked = true;
    const draw = () => {
      cancelAnimationFrame(frame);
      clearTimeout(late);
      this.asked = false;
      this.draw();
    };
    const frame = requestAnimationFrame(draw);
    const late = setTimeout(draw, 400);
  }

  private readonly buffer = new THREE.Vector2();

  draw(): void {
    const start = performance.now();
    const { renderer, camera } = this;
    this.prepare();
    renderer.getDrawingBufferSize(this.buffer);
    const { x: width, y: height } = this.buffer;
    const hasty = this.moving || this.hasty;
    const share = hasty ? this.share : 1;
    this.solidTarget.setSize(width, height);
    if (this.points) this.points.uniforms.uFlat.value = this.isFlat;
    renderer.setRenderTarget(this.solidTarget);
    renderer.render(this.solid, camera);
    const volume = this.volumes.find((v) => v.across === null);
    if (volume) {
      this.softTarget.setSize(Math.ceil(width * share), Math.ceil(height * share));
      this.aim(volume, hasty);
      renderer.setRenderTarget(this.softTarget);
      const colour = renderer.getClearColor(new THREE.Color());
      renderer.setClearColor(0, 0);
      renderer.render(this.soft, camera);
      renderer.setClearColor(colour, 1);
    }
    this.compose.uHasVolume.value = volume !== undefined;
    renderer.setRenderTarget(null);
    renderer.render(this.last, camera);
    this.drawn();
    if (hasty && volume) this.adapt(start);
  }

  /** Hasty frames shall come ten times a second or more. */
  private adapt(start: number): void {
    const gl = this.renderer.getContext();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); // waits until it is drawn
    const took = performance.now() - start;
    if (took > 100) this.share = Math.max(this.share * 0.7, 0.125);
    else if (took < 40) this.share = Math.min(this.share * 1.2, 1);
  }

  private aim(volume: Volume, hasty: boolean): void {
    const u = volume.uniforms;
    const { camera } = this;
    u.uEye.value.copy(camera.position);
    camera.getWorldDirection(u.uForward.value);
    u.uFlat.value = this.isFlat;
    u.uStep.value = u.uNearest.value || u.uMode.value === 1 ? 1 : hasty ? 1.5 : 0.7;
    u.uDepth.value = this.solidTarget.depthTexture;
    u.uPixels.value.set(this.softTarget.width, this.softTarget.height);
    u.uInverse.value.copy(this.matrix()).invert();
    // Light comes from over the shoulder.
    const light = new THREE.Vector3(-0.4, 0.6, 0.8).applyQuaternion(camera.quaternion);
    u.uLight.value.copy(light);
  }

  setPointSize(size: number): void {
    if (this.points) this.points.uniforms.uSize.value = size * this.pixels();
  }

  /** The picture as it is on the screen. */
  picture(): Promise<Blob | null> {
    this.draw();
    return new Promise((resolve) => this.canvas.toBlob(resolve, "image/png"));
  }
}
