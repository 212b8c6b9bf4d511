// opacity.ts -- the editor of opacities: points to drag over the histogram of the values. A double
// click adds one, or removes the one that is there. By keys: arrows move the point that is chosen,
// enter chooses the next one, + adds one after it, delete removes it.
import { colourAt, opacityAt, type Stop } from "./colours.ts";
import { h } from "./dom.ts";

export function nearestStop(stops: readonly Stop[], x: number, y: number, reach: number): number {
  let best = -1;
  let least = reach;
  stops.forEach(([a, b], i) => {
    const distance = Math.hypot(a - x, (b - y) / 3);
    if (distance < least) [best, least] = [i, distance];
  });
  return best;
}

/** A point stays between its neighbours. */
export function moveStop(stops: readonly Stop[], i: number, x: number, y: number): Stop[] {
  const low = i > 0 ? stops[i - 1][0] : 0;
  const high = i < stops.length - 1 ? stops[i + 1][0] : 1;
  const within = (v: number, a: number, b: number) => Math.min(Math.max(v, a), b);
  return stops.map((stop, j) => (j === i ? [within(x, low, high), within(y, 0, 1)] : stop));
}

/** Points, and which one is chosen, after a key; null: it means nothing here. */
export function keyed(stops: Stop[], chosen: number, key: string): [Stop[], number] | null {
  const [x, y] = stops[chosen];
  const by = { ArrowLeft: [-0.01, 0], ArrowRight: [0.01, 0], ArrowUp: [0, 0.02], ArrowDown: [0, -0.02] }[key];
  if (by) return [moveStop(stops, chosen, x + by[0], y + by[1]), chosen];
  if (key === "Enter") return [stops, (chosen + 1) % stops.length];
  if (key === "Delete" && stops.length > 2) return [stops.filter((_, i) => i !== chosen), Math.max(chosen - 1, 0)];
  if (key !== "+") return null;
  const [x1, y1] = stops[chosen + 1] ?? [1, y];
  return [[...stops.slice(0, chosen + 1), [(x + x1) / 2, (y + y1) / 2], ...stops.slice(chosen + 1)], chosen + 1];
}

export function opacityEditor(stops: Stop[], map: string, counts: number[], changed: (stops: Stop[], last: boolean) => void): HTMLCanvasElement {
  const canvas = h("canvas", { className: "opacity", width: 480, height: 128, ariaLabel: "Opacity", tabIndex: 0, role: "application", title: "Drag points; double-click adds or removes one" });
  let held = -1;
  let chosen = 0;
  const draw = () => {
    const context = canvas.getContext("2d")!;
    const { width, height } = canvas;
    context.clearRect(0, 0, width, height);
    const most = Math.log1p(Math.max(1, ...counts.slice(1)));
    for (let i = 0; i < 255; i++) {
      const [r, g, b] = colourAt(map, i / 254);
      const x = (i / 255) * width;
      context.fillStyle = `rgb(${r} ${g} ${b} / 0.35)`;
      const bar = (Math.log1p(counts[i + 1] ?? 0) / most) * height;
      context.fillRect(x, height - bar, width / 255 + 1, bar);
      context.fillStyle = `rgb(${r} ${g} ${b})`;
      const part = opacityAt(stops, i / 254) * (height - 12) + 3;
      context.fillRect(x, height - part, width / 255 + 1, 3);
    }
    for (const [i, [x, y]] of stops.entries()) {
      context.beginPath();
      context.arc(x * (width - 16) + 8, height - 6 - y * (height - 12), 6, 0, 7);
      context.fillStyle = i === chosen && canvas === document.activeElement ? "#f80" : "#fff";
      context.strokeStyle = "#000";
      context.fill();
      context.stroke();
    }
  };
  const at = (event: MouseEvent): [number, number] => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, 1 - (event.clientY - box.top) / box.height];
  };
  const tell = (last: boolean) => {
    draw();
    changed(stops, last);
  };
  canvas.onpointerdown = (event) => {
    held = nearestStop(stops, ...at(event), 0.08);
    if (held < 0) return;
    chosen = held;
    canvas.setPointerCapture(event.pointerId);
  };
  canvas.onpointermove = (event) => {
    if (held < 0) return;
    stops = moveStop(stops, held, ...at(event));
    tell(false);
  };
  canvas.onpointerup = () => {
    if (held >= 0) tell(true);
    held = -1;
  };
  canvas.ondblclick = (event) => {
    const [x, y] = at(event);
    const there = nearestStop(stops, x, y, 0.06);
    if (there >= 0 && stops.length > 2) stops = stops.filter((_, i) => i !== there);
    else stops = [...stops, [x, y] as Stop].sort((a, b) => a[0] - b[0]);
    chosen = Math.min(chosen, stops.length - 1);
    tell(true);
  };
  canvas.onkeydown = (event) => {
    const next = keyed(stops, chosen, event.key);
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    [stops, chosen] = next;
    tell(true);
  };
  canvas.onfocus = canvas.onblur = draw;
  draw();
  return canvas;
}
