// dom.ts -- elements, in few words.
import { numberIn } from "./format.ts";

type Child = Node | string | null | false;

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, properties: Partial<HTMLElementTagNameMap[K]> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child): child is Node | string => !!child || child === ""));
  return element;
}

export function byId<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

export function row(label: string, ...children: Child[]): HTMLElement {
  return h("div", { className: "row" }, h("span", {}, label), h("div", {}, ...children));
}

export function select(values: [string, string][], value: string, changed: (value: string) => void, label: string): HTMLSelectElement {
  const element = h("select", { onchange: () => changed(element.value), ariaLabel: label }, ...values.map(([v, text]) => h("option", { value: v }, text)));
  element.value = value;
  return element;
}

export function slider(low: number, high: number, step: number, value: number, changed: (value: number) => void, label: string): HTMLInputElement {
  const element = h("input", { type: "range", min: String(low), max: String(high), step: String(step), ariaLabel: label });
  element.value = String(value);
  element.oninput = () => changed(Number(element.value));
  return element;
}

export function check(text: string, value: boolean, changed: (value: boolean) => void): HTMLElement {
  const box = h("input", { type: "checkbox", checked: value, onchange: () => changed(box.checked) });
  return h("label", {}, box, " " + text);
}

/** A control, and a way to show another value. */
export interface Control<T> {
  element: HTMLElement;
  set(value: T): void;
}

const ends = ["lower end", "upper end"];

/** A slider with other limits, for another value. */
export function setLimits(element: HTMLInputElement, low: number, high: number, step: number, value: number): void {
  Object.assign(element, { min: String(low), max: String(high), step: String(step) });
  element.value = String(value);
}

/** Both ends of a range within limits, which can change; the ends do not pass each other. */
export function double(limits: () => [number, number], value: [number, number], changed: (value: [number, number], last: boolean) => void, label: string): Control<[number, number]> {
  let step = 1;
  const [a, b] = ends.map((end) => h("input", { type: "range", ariaLabel: `${label}, ${end}` }));
  const set = (now: [number, number]) => {
    const [low, high] = limits();
    step = (high - low) / 500 || 1;
    [a, b].forEach((input, i) => setLimits(input, low, high, step, now[i]));
  };
  set(value);
  const tell = (moved: HTMLInputElement, last: boolean) => {
    if (Number(a.value) > Number(b.value) - step) moved === a ? (a.value = String(Number(b.value) - step)) : (b.value = String(Number(a.value) + step));
    changed([Number(a.value), Number(b.value)], last);
  };
  for (const input of [a, b]) {
    input.oninput = () => tell(input, false);
    input.onchange = () => tell(input, true);
  }
  return { element: h("div", { className: "double" }, a, b), set };
}

/** Whether someone is typing in it. */
export function isEdited(element: Element | null): boolean {
  return element instanceof HTMLInputElement && element.type === "number" && element === document.activeElement && element.value !== element.defaultValue;
}

/** Two numbers to type; what is not an ascending pair is not taken. */
export function pair(value: [number, number], changed: (value: [number, number]) => void, label: string): Control<[number, number]> {
  const inputs = ends.map((end) => h("input", { type: "number", step: "any", ariaLabel: `${label}, ${end}` }));
  const exact = [...value];
  const set = (now: [number, number]) => inputs.forEach((input, i) => {
    if (isEdited(input)) return;
    exact[i] = now[i];
    input.value = input.defaultValue = numberIn(now[i], now);
    input.title = String(now[i]);
  });
  set(value);
  for (const input of inputs)
    input.onchange = () => {
      const [a, b] = inputs.map((n, i) => (n.value === n.defaultValue ? exact[i] : Number(n.value)));
      if (inputs.every((n) => n.value !== "") && a < b) changed([a, b]);
    };
  return { element: h("div", { className: "pair" }, ...inputs), set };
}
