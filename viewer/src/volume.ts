// volume.ts -- the bricks of a grid on the graphics card: an atlas, a page table, and the box
// that rays are marched through.
import * as THREE from "three";
import { bake, missing, type Stop } from "./colours.ts";
import { bricksOf, type Pyramid, type Vector } from "./plan.ts";
import { boxVertex, marchFragment, sliceFragment } from "./shaders.ts";

/** Slots along each axis for about 'count' bricks of 'size' + 1 samples. */
export function atlasShape(count: number, size: number, longest: number): Vector {
  const most = Math.min(Math.floor(longest / (size + 1)), 255);
  const x = Math.min(most, Math.ceil(Math.cbrt(count)));
  const y = Math.min(most, Math.ceil(Math.sqrt(count / x)));
  const z = Math.min(most, Math.ceil(count / (x * y)));
  return [x, y, z];
}

/** The samples of a brick, [z][y][x], in a cube of 'size' + 1; the last ones are repeated. */
export function fillSlot(data: Uint8Array, shape: Vector, size: number): Uint8Array {
  const n = size + 1;
  const [nx, ny, nz] = shape;
  if (nx === n && ny === n && nz === n) return data;
  const out = new Uint8Array(n * n * n);
  for (let z = 0; z < n; z++)
    for (let y = 0; y < n; y++) {
      const row = (Math.min(z, nz - 1) * ny + Math.min(y, ny - 1)) * nx;
      const to = (z * n + y) * n;
      out.set(data.subarray(row, row + nx), to);
      out.fill(data[row + nx - 1], to + nx, to + n);
    }
  return out;
}

/** A texture whose contents we send ourselves, a part at a time. */
function ownTexture(renderer: THREE.WebGLRenderer, shape: Vector, kind: "r8" | "rgba8ui"): THREE.Data3DTexture {
  const gl = renderer.getContext() as WebGL2RenderingContext;
  const texture = new THREE.Data3DTexture(null, ...shape);
  const handle = gl.createTexture();
  const filter = kind === "r8" ? gl.LINEAR : gl.NEAREST;
  renderer.state.bindTexture(gl.TEXTURE_3D, handle);
  gl.texStorage3D(gl.TEXTURE_3D, 1, kind === "r8" ? gl.R8 : gl.RGBA8UI, ...shape);
  gl.texParameteri(gl.TEXTURE_3D, gl.TEXTURE_MIN_FILTER, filter);
  gl.texParameteri(gl.TEXTURE_3D, gl.TEXTURE_MAG_FILTER, filter);
  for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T, gl.TEXTURE_WRAP_R]) gl.texParameteri(gl.TEXTURE_3D, side, gl.CLAMP_TO_EDGE);
  const properties = renderer.properties.get(texture) as Record<string, unknown>;
  properties.__webglTexture = handle;
  properties.__webglInit = true;
  return texture;
}

function send(renderer: THREE.WebGLRenderer, texture: THREE.Texture, at: Vector, shape: Vector, data: Uint8Array, integer: boolean): void {
  const gl = renderer.getContext() as WebGL2RenderingContext;
  const properties = renderer.properties.get(texture) as { __webglTexture: WebGLTexture };
  const settings = [gl.UNPACK_ALIGNMENT, gl.UNPACK_FLIP_Y_WEBGL, gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL];
  const before = settings.map((name) => gl.getParameter(name));
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, false);
  gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false);
  renderer.state.bindTexture(gl.TEXTURE_3D, properties.__webglTexture);
  gl.texSubImage3D(gl.TEXTURE_3D, 0, ...at, ...shape, integer ? gl.RGBA_INTEGER : gl.RED, gl.UNSIGNED_BYTE, data);
  settings.forEach((name, i) => gl.pixelStorei(name, before[i]));
}

/** Memory of the graphics card for bricks. */
export const atlasBytes = 128 << 20;

export class Volume {
  readonly slots: Vector;
  readonly uniforms: Record<string, THREE.IUniform>;
  readonly box: THREE.Mesh;
  readonly planes: THREE.Mesh[]; // across x, y, z
  private readonly atlas: THREE.Data3DTexture;
  private readonly pages: THREE.Data3DTexture;
  private readonly map: THREE.DataTexture;

  constructor(private readonly renderer: THREE.WebGLRenderer, readonly pyramid: Pyramid, needed: number) {
    const n = pyramid.size + 1;
    const most = Math.max(8, Math.floor(atlasBytes / n ** 3));
    this.slots = atlasShape(Math.min(needed, most), pyramid.size, renderer.capabilities.maxTextureSize > 2047 ? 2048 : 1024);
    const shape = this.slots.map((s) => s * n) as Vector;
    this.atlas = ownTexture(renderer, shape, "r8");
    this.pages = ownTexture(renderer, bricksOf(pyramid, 0), "rgba8ui");
    this.map = new THREE.DataTexture(new Uint8Array(256 * 4), 256, 1);
    this.map.minFilter = this.map.magFilter = THREE.LinearFilter;
    const v = (x = 0, y = 0, z = 0) => ({ value: new THREE.Vector3(x, y, z) });
    this.uniforms = {
      uAtlas: { value: this.atlas }, uPages: { value: this.pages }, uMap: { value: this.map },
      uShape: v(...pyramid.shape), uAtlasSize: v(...shape), uBrick: { value: pyramid.size }, uNearest: { value: false },
      uRange: { value: new THREE.Vector2(1, 0) }, uLow: v(), uHigh: v(...pyramid.shape), uScale: v(1, 1, 1), uOffset: v(),
      uEye: v(), uForward: v(), uFlat: { value: false }, uMode: { value: 0 }, uStep: { value: 1 }, uIso: { value: 0.5 },
      uDense: { value: Math.max(...pyramid.shape) / 50 }, uLight: v(0.4, 0.6, 0.7),
      uDepth: { value: null }, uPixels: { value: new THREE.Vector2() }, uInverse: { value: new THREE.Matrix4() },
    };
    const material = new THREE.ShaderMaterial({
      glslVersion: THREE.GLSL3, vertexShader: boxVertex, fragmentShader: marchFragment, uniforms: this.uniforms,
      side: THREE.BackSide, depthTest: false, depthWrite: false, blending: THREE.NoBlending,
    });
    this.box = new THREE.Mesh(new THREE.BoxGeometry(1, 1, 1), material);
    this.box.frustumCulled = false;
    this.planes = [0, 1, 2].map((axis) => this.plane(axis));
  }

  private plane(axis: number): THREE.Mesh {
    const uPlane = new THREE.Vector4(Number(axis === 0), Number(axis === 1), Number(axis === 2), 0);
    const material = new THREE.ShaderMaterial({
      glslVersion: THREE.GLSL3, vertexShader: boxVertex, fragmentShader: sliceFragment, side: THREE.DoubleSide,
      uniforms: { ...this.uniforms, uPlane: { value: uPlane }, uMissing: { value: new THREE.Vector3(...missing.map((c) => c / 255)) } },
    });
    const geometry = new THREE.PlaneGeometry(1, 1);
    if (axis === 0) geometry.rotateY(Math.PI / 2);
    if (axis === 1) geometry.rotateX(Math.PI / 2);
    const mesh = new THREE.Mesh(geometry, material);
    mesh.frustumCulled = false;
    return mesh;
  }

  get count(): number {
    return this.slots[0] * this.slots[1] * this.slots[2];
  }

  place(slot: number): Vector {
    const [x, y] = this.slots;
    return [slot % x, Math.floor(slot / x) % y, Math.floor(slot / (x * y))];
  }

  put(slot: number, data: Uint8Array): void {
    const n = this.pyramid.size + 1;
    send(this.renderer, this.atlas, this.place(slot).map((s) => s * n) as Vector, [n, n, n], data, false);
  }

  setPages(table: Uint8Array): void {
    send(this.renderer, this.pages, [0, 0, 0], bricksOf(this.pyramid, 0), table, true);
  }

  setColours(map: string, stops: readonly Stop[]): void {
    (this.map.image.data as Uint8Array).set(bake(map, stops));
    this.map.needsUpdate = true;
  }

  /** Where the grid is in the world, and which part of it is shown, in samples. */
  setPlace(scale: Vector, offset: Vector, low: Vector, high: Vector): void {
    const u = this.uniforms;
    u.uScale.value.set(...scale);
    u.uOffset.value.set(...offset);
    u.uLow.value.set(...low);
    u.uHigh.value.set(...high);
    this.box.position.set(...(low.map((l, i) => ((l + high[i]) / 2) * scale[i] + offset[i]) as Vector));
    this.box.scale.set(...(low.map((l, i) => Math.abs((high[i] - l) * scale[i])) as Vector));
    this.planes.forEach((plane) => {
      plane.position.copy(this.box.position);
      plane.scale.copy(this.box.scale);
    });
  }

  /** The plane of the samples with this index; null: none. */
  setPlane(axis: number, index: number | null): void {
    const plane = this.planes[axis];
    const { uScale, uOffset } = this.uniforms;
    plane.visible = index !== null;
    if (index === null) return;
    (plane.material as THREE.ShaderMaterial).uniforms.uPlane.value.w = index;
    plane.position.setComponent(axis, (index + 0.5) * uScale.value.getComponent(axis) + uOffset.value.getComponent(axis));
  }

  dispose(): void {
    const gl = this.renderer.getContext() as WebGL2RenderingContext;
    for (const texture of [this.atlas, this.pages]) gl.deleteTexture((this.renderer.properties.get(texture) as { __webglTexture: WebGLTexture }).__webglTexture);
    this.renderer.resetState();
    this.map.dispose();
    for (const mesh of [this.box, ...this.planes]) {
      mesh.geometry.dispose();
      (mesh.material as THREE.Material).dispose();
    }
  }
}
