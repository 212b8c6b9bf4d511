// charts.ts -- histograms and series, by uPlot.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { number } from "./format.ts";
import type { Histogram, Series } from "./source.ts";

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

const widthOf = (into: HTMLElement) => into.clientWidth || 240;

export function drawHistogram(into: HTMLElement, histogram: Histogram): void {
  const { edges, estimate } = histogram;
  const x = estimate.map((_, i) => (edges[i] + edges[i + 1]) / 2);
  into.replaceChildren();
  new uPlot({
    width: widthOf(into), height: 44, padding: [2, 0, 0, 0], legend: { show: false }, cursor: { show: false },
    scales: { x: { time: false, range: [edges[0], edges[edges.length - 1]] }, y: { range: (_, __, most) => [0, most || 1] } },
    axes: [{ show: false }, { show: false }],
    series: [{}, { fill: colour("--accent"), width: 0, points: { show: false }, paths: uPlot.paths.bars!({ size: [1, 40], gap: 0 }) }],
  }, [x, estimate], into);
}

/** A sample over time, with a mark at 'now'; a click tells the index of the step there. */
export function drawSeries(into: HTMLElement, series: Series, label: string, now: () => number, chosen: (index: number) => void): uPlot {
  const numbers = (_: uPlot, values: number[]) => values.map((v) => number(v, 4));
  const axis = { stroke: colour("--faint"), grid: { stroke: colour("--edge"), width: 1 }, ticks: { show: false }, font: "10px system-ui", values: numbers };
  const mark = (plot: uPlot) => {
    const x = plot.valToPos(now(), "x", true);
    plot.ctx.fillStyle = colour("--faint");
    plot.ctx.fillRect(x, plot.bbox.top, devicePixelRatio, plot.bbox.height);
  };
  into.replaceChildren();
  const plot = new uPlot({
    width: widthOf(into), height: 130, legend: { show: false },
    scales: { x: { time: false } }, axes: [{ ...axis, size: 22, space: 60 }, { ...axis, size: 62 }],
    series: [{}, { label, stroke: colour("--accent"), width: 1.5 }], hooks: { draw: [mark] },
  }, [series.times, series.values], into);
  plot.over.addEventListener("click", () => {
    if (typeof plot.cursor.idx === "number") chosen(plot.cursor.idx);
  });
  return plot;
}

/** A curve as large as its place. */
export function curve(into: HTMLElement, x: number[], y: number[], xLabel: string, yLabel: string, range: [number, number] | null): uPlot {
  const axis = { stroke: () => colour("--text"), grid: { stroke: () => colour("--edge"), width: 1 }, ticks: { show: false }, font: "12px system-ui", labelFont: "12px system-ui" };
  const size = () => ({ width: into.clientWidth, height: into.clientHeight });
  const chart: uPlot = new uPlot({
    ...size(), legend: { show: false }, cursor: { drag: { x: false, y: false } },
    scales: { x: { time: false }, y: range ? { range } : {} }, axes: [{ ...axis, label: xLabel }, { ...axis, label: yLabel, size: 64 }],
    series: [{}, { stroke: () => colour("--accent"), width: 1.5, points: { show: x.length < 100 } }],
  }, [x, y.map((v) => (Number.isFinite(v) ? v : null))], into);
  const watch = new ResizeObserver(() => (into.isConnected && !into.hidden ? chart.setSize(size()) : undefined));
  watch.observe(into);
  chart.hooks.destroy = [() => watch.disconnect()];
  return chart;
}
