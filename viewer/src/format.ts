// format.ts -- numbers and amounts for people.

export function number(value: number | null | undefined, digits = 5): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "NaN";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(digits - 2).replace(/\.?0+e/, "e").replace("e+", "e");
  return String(Number(value.toPrecision(digits)));
}

/** An end of a range, or a place in it, with digits that matter in it: not 1.6e-13 beside 1.3. */
export function numberIn(value: number, [low, high]: readonly [number, number]): string {
  const digits = 3 - Math.floor(Math.log10(Math.abs(high - low)));
  if (!Number.isFinite(digits) || Math.abs(digits) > 300) return number(value, 4);
  const scale = 10 ** Math.abs(digits);
  return number(digits > 0 ? Math.round(value * scale) / scale : Math.round(value / scale) * scale, 8);
}

export function withUnit(text: string, unit: string | undefined): string {
  return unit ? `${text} ${unit}` : text;
}

export function bytes(count: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let i = 0;
  for (; count >= 1024 && i < units.length - 1; i++) count /= 1024;
  return `${i === 0 || count >= 100 ? Math.round(count) : count.toFixed(1)} ${units[i]}`;
}

export function count(n: number): string {
  return n.toLocaleString("en").replace(/,/g, "\u2009");
}
