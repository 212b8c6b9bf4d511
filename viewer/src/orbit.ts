// orbit.ts -- a camera that is moved by keys: its position and what it looks at, six numbers.

const limit = 0.02; // from straight above or below

/** Around what is looked at: by angles, to the left and upwards. z is up. */
export function turned(camera: readonly number[], left: number, up: number): number[] {
  const [x, y, z] = [0, 1, 2].map((i) => camera[i] - camera[i + 3]);
  const distance = Math.hypot(x, y, z);
  const around = Math.atan2(y, x) - left;
  const height = Math.min(Math.max(Math.acos(z / distance) - up, limit), Math.PI - limit);
  const flat = distance * Math.sin(height);
  const offset = [flat * Math.cos(around), flat * Math.sin(around), distance * Math.cos(height)];
  return [...offset.map((v, i) => v + camera[i + 3]), ...camera.slice(3)];
}

/** The distance becomes 'factor' times as large. */
export function farther(camera: readonly number[], factor: number): number[] {
  return [...[0, 1, 2].map((i) => camera[i + 3] + (camera[i] - camera[i + 3]) * factor), ...camera.slice(3)];
}

/** Beside: 'by' is a vector. */
export function shifted(camera: readonly number[], by: readonly number[]): number[] {
  return camera.map((v, i) => v + by[i % 3]);
}
