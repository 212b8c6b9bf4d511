// volume.ts -- the bricks of a grid on the graphics card: an atlas, a page table, and what is drawn
// with them: the box that rays are marched through, or one slice.
//
// The atlas is a texture that three.js allocates but never fills (source.dataReady is false);
// bricks go into it by copyTextureToTexture(). Both are public, and work after a lost context.
import * as THREE from "three";
import { bake, missing, type Stop } from "./colours.ts";
import type { Atlas } from "./loader.ts";
import { countBricks, slotBytes, type Pyramid, type Table, type Vector } from "./plan.ts";
import { boxVertex, marchFragment, sliceFragment } from "./shaders.ts";

/** Slots along each axis, for 'needed' bricks or as many as there may be: never more than 'most',
 *  and none longer than 'longest' samples. */
export function atlasShape(needed: number, most: number, size: Vector, longest: number): Vector {
  const along = size.map((s) => Math.min(Math.floor(longest / (s + 1)), 255));
  const want = Math.max(Math.min(needed, most), 1);
  let best: Vector = [1, 1, 1];
  for (let x = 1; x <= Math.min(along[0], want); x++)
    for (let y = 1; y <= Math.min(along[1], Math.floor(want / x)); y++) {
      // One more layer, if there may be; else what fits.
      const up = Math.ceil(want / (x * y));
      const z = Math.min(along[2], up * x * y <= most ? up : Math.floor(want / (x * y)));
      const [slots, before] = [x * y * z, best[0] * best[1] * best[2]];
      const better = Math.min(slots, want) - Math.min(before, want) || before - slots;
      if (better > 0 || (better === 0 && x + y + z < best[0] + best[1] + best[2])) best = [x, y, z];
    }
  return best;
}

function texture3d(shape: Vector, format: THREE.PixelFormat, filter: THREE.MagnificationTextureFilter): THREE.Data3DTexture {
  const texture = new THREE.Data3DTexture(null, ...shape);
  texture.format = format;
  texture.type = THREE.UnsignedByteType;
  texture.minFilter = texture.magFilter = filter;
  texture.wrapS = texture.wrapT = texture.wrapR = THREE.ClampToEdgeWrapping;
  texture.unpackAlignment = 1;
  texture.source.dataReady = false;
  texture.needsUpdate = true;
  return texture;
}

const formats = [THREE.RedFormat, THREE.RGFormat];

export class Volume implements Atlas {
  readonly slots: Vector;
  readonly uniforms: Record<string, THREE.IUniform>;
  readonly mesh: THREE.Mesh;
  private readonly atlas: THREE.Data3DTexture;
  private pages: THREE.Data3DTexture;
  private readonly map: THREE.DataTexture;

  /** For bricks with one or two channels, within 'budget' bytes. 'across' is the axis across a
   *  slice; null: it is not one. */
  constructor(private readonly renderer: THREE.WebGLRenderer, readonly pyramid: Pyramid, readonly channels: number, budget: number, readonly across: number | null) {
    const gl = renderer.getContext() as WebGL2RenderingContext;
    const longest = Math.min(gl.getParameter(gl.MAX_3D_TEXTURE_SIZE), 2048);
    const most = Math.floor(budget / slotBytes(pyramid, channels));
    this.slots = atlasShape(2 * countBricks(pyramid), most, pyramid.size, longest); // two steps, if they are small
    const shape = this.slots.map((s, i) => s * (pyramid.size[i] + 1)) as Vector;
    this.atlas = texture3d(shape, formats[channels - 1], THREE.LinearFilter);
    this.pages = texture3d([1, 1, 1], THREE.RGBAIntegerFormat, THREE.NearestFilter);
    this.map = new THREE.DataTexture(new Uint8Array(256 * 4), 256, 1);
    this.map.minFilter = this.map.magFilter = THREE.LinearFilter;
    const v = (x = 0, y = 0, z = 0) => ({ value: new THREE.Vector3(x, y, z) });
    this.uniforms = {
      uAtlas: { value: this.atlas }, uPages: { value: this.pages }, uMap: { value: this.map },
      uShape: v(...pyramid.shape), uAtlasSize: v(...shape), uBrick: v(...pyramid.size), uFirst: v(), uCells: v(1, 1, 1), uTable: { value: 0 }, uNearest: { value: false },
      uRange: { value: new THREE.Vector2(1, 0) }, uTinted: { value: false }, uTintRange: { value: new THREE.Vector2(1, 0) },
      uMissing: v(...(missing.map((c) => c / 255) as Vector)),
      uLow: v(), uHigh: v(...pyramid.shape), uScale: v(1, 1, 1), uOffset: v(),
      uEye: v(), uForward: v(), uFlat: { value: false }, uMode: { value: 0 }, uStep: { value: 1 }, uIso: { value: 0.5 },
      uDense: { value: Math.max(...pyramid.shape) / 50 }, uLight: v(0.4, 0.6, 0.7),
      uDepth: { value: null }, uPixels: { value: new THREE.Vector2() }, uInverse: { value: new THREE.Matrix4() },
    };
    this.mesh = across === null ? this.box() : this.plane(across);
    this.mesh.frustumCulled = false;
  }

  private box(): THREE.Mesh {
    return new THREE.Mesh(new THREE.BoxGeometry(1, 1, 1), new THREE.ShaderMaterial({
      glslVersion: THREE.GLSL3, vertexShader: boxVertex, fragmentShader: marchFragment, uniforms: this.uniforms,
      side: THREE.BackSide, depthTest: false, depthWrite: false, blending: THREE.NoBlending,
    }));
  }

  private plane(axis: number): THREE.Mesh {
    const geometry = new THREE.PlaneGeometry(1, 1);
    if (axis === 0) geometry.rotateY(Math.PI / 2);
    if (axis === 1) geometry.rotateX(Math.PI / 2);
    return new THREE.Mesh(geometry, new THREE.ShaderMaterial({
      glslVersion: THREE.GLSL3, vertexShader: boxVertex, fragmentShader: sliceFragment, uniforms: this.uniforms, side: THREE.DoubleSide,
    }));
  }

  get count(): number {
    return this.slots[0] * this.slots[1] * this.slots[2];
  }
  get bytes(): number {
    return this.count * slotBytes(this.pyramid, this.channels);
  }

  place(slot: number): Vector {
    const [x, y] = this.slots;
    return [slot % x, Math.floor(slot / x) % y, Math.floor(slot / (x * y))];
  }

  private send(to: THREE.Data3DTexture, at: Vector, shape: Vector, data: Uint8Array): void {
    const from = new THREE.Data3DTexture(data as Uint8Array<ArrayBuffer>, ...shape);
    this.renderer.copyTextureToTexture(from, to, null, new THREE.Vector3(...at));
  }

  put(slot: number, data: Uint8Array): void {
    const n = this.pyramid.size.map((s) => s + 1) as Vector;
    this.send(this.atlas, this.place(slot).map((s, i) => s * n[i]) as Vector, n, data);
  }

  setPages(pages: Uint8Array, table: Table): void {
    const u = this.uniforms;
    const { width, height, depth } = this.pages.image;
    if (width !== table.count[0] || height !== table.count[1] || depth !== table.count[2]) {
      this.pages.dispose();
      this.pages = texture3d(table.count, THREE.RGBAIntegerFormat, THREE.NearestFilter);
      u.uPages.value = this.pages;
    }
    u.uFirst.value.set(...table.first);
    u.uCells.value.set(...table.count);
    u.uTable.value = table.level;
    this.send(this.pages, [0, 0, 0], table.count, pages);
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
    this.mesh.position.set(...(low.map((l, i) => ((l + high[i]) / 2) * scale[i] + offset[i]) as Vector));
    this.mesh.scale.set(...(low.map((l, i) => Math.abs((high[i] - l) * scale[i])) as Vector));
    this.mesh.visible = low.every((l, i) => l < high[i]);
  }

  dispose(): void {
    this.atlas.dispose();
    this.pages.dispose();
    this.map.dispose();
    this.mesh.geometry.dispose();
    (this.mesh.material as THREE.Material).dispose();
  }
}

/** The pyramid of a slice: one sample thick, and with wide bricks. */
export function sliceShape(shape: Vector, axis: number): Vector {
  return shape.map((n, i) => (i === axis ? 1 : n)) as Vector;
}

