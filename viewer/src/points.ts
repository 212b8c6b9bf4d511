// points.ts -- particles: which to fetch next, and how they are drawn.
import * as THREE from "three";
import { bake } from "./colours.ts";
import { pointFragment, pointVertex } from "./shaders.ts";

/** Particles in the first answer, and in memory. */
const firstCount = 20000;
export const mostPoints = 3_000_000;

/** Parts of all particles, one after the other, each four times as large as all before: the first
 *  picture comes at once, and no particle twice. */
export function planQualities(count: number, quality: number): [number, number][] {
  const end = Math.min(quality, mostPoints / Math.max(count, 1), 1);
  const out: [number, number][] = [];
  let from = 0;
  for (let to = Math.min(firstCount / Math.max(count, 1), end); end > from; to = Math.min(4 * to, end)) {
    out.push([from, to]);
    from = to;
  }
  return out;
}

/** Counts of values in equal bins from 'low' to 'high'. */
export function countValues(chunks: Iterable<Float32Array>, low: number, high: number, bins: number): { edges: number[]; estimate: number[] } {
  const edges = Array.from({ length: bins + 1 }, (_, i) => low + ((high - low) * i) / bins);
  const estimate = new Array<number>(bins).fill(0);
  const scale = bins / (high - low || 1);
  for (const chunk of chunks) for (const v of chunk) if (v >= low && v <= high) estimate[Math.min(Math.floor((v - low) * scale), bins - 1)]++;
  return { edges, estimate };
}

export class Points {
  readonly group = new THREE.Group();
  readonly uniforms: Record<string, THREE.IUniform>;
  count = 0;
  private readonly map = new THREE.DataTexture(new Uint8Array(256 * 4), 256, 1);
  private readonly material: THREE.ShaderMaterial;

  constructor() {
    this.map.minFilter = this.map.magFilter = THREE.LinearFilter;
    this.uniforms = {
      uMap: { value: this.map }, uSize: { value: 1 }, uFlat: { value: false }, uRange: { value: new THREE.Vector2(0, 1) }, uLeast: { value: 1.5 },
    };
    this.material = new THREE.ShaderMaterial({ glslVersion: THREE.GLSL3, vertexShader: pointVertex, fragmentShader: pointFragment, uniforms: this.uniforms });
  }

  setColours(map: string): void {
    (this.map.image.data as Uint8Array).set(bake(map, []));
    this.map.needsUpdate = true;
  }

  /** Positions are those of the world. */
  add(positions: Float32Array, values: Float32Array): void {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
    geometry.setAttribute("value", new THREE.BufferAttribute(values, 1));
    const points = new THREE.Points(geometry, this.material);
    points.frustumCulled = false;
    this.group.add(points);
    this.count += values.length;
  }

  clear(): void {
    for (const child of this.group.children) (child as THREE.Points).geometry.dispose();
    this.group.clear();
    this.count = 0;
  }

  *chunks(): Iterable<{ positions: Float32Array; values: Float32Array }> {
    for (const child of this.group.children) {
      const { position, value } = (child as THREE.Points).geometry.attributes;
      yield { positions: position.array as Float32Array, values: value.array as Float32Array };
    }
  }

  /** The front one within 'radius' pixels of a place on the screen: its position and value. */
  pick(matrix: THREE.Matrix4, width: number, height: number, x: number, y: number, radius: number): { position: number[]; value: number } | null {
    const m = matrix.elements;
    let best: { position: number[]; value: number } | null = null;
    let depth = Infinity;
    for (const { positions: p, values } of this.chunks())
      for (let i = 0; i < values.length; i++) {
        const [a, b, c] = [p[3 * i], p[3 * i + 1], p[3 * i + 2]];
        const w = m[3] * a + m[7] * b + m[11] * c + m[15];
        const dx = (((m[0] * a + m[4] * b + m[8] * c + m[12]) / w + 1) * width) / 2 - x;
        const dy = ((1 - (m[1] * a + m[5] * b + m[9] * c + m[13]) / w) * height) / 2 - y;
        if (w <= 0 || dx * dx + dy * dy > radius * radius) continue;
        const z = (m[2] * a + m[6] * b + m[10] * c + m[14]) / w;
        if (z >= depth) continue;
        depth = z;
        best = { position: [a, b, c], value: values[i] };
      }
    return best;
  }
}
