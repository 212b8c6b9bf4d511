// dom.ts -- elements, in few words.

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

/** Both ends of a range; they do not pass each other. */
export function double(low: number, high: number, value: [number, number], changed: (value: [number, number], last: boolean) => void, label: string): HTMLElement {
  const step = (high - low) / 500 || 1;
  const [a, b] = value.map((v, i) => h("input", { type: "range", min: String(low), max: String(high), step: "any", value: String(v), ariaLabel: `${label}, ${i ? "upper" : "lower"} end` }));
  a.value = String(value[0]);
  b.value = String(value[1]);
  const tell = (moved: HTMLInputElement, last: boolean) => {
    if (Number(a.value) > Number(b.value) - step) moved === a ? (a.value = String(Number(b.value) - step)) : (b.value = String(Number(a.value) + step));
    changed([Number(a.value), Number(b.value)], last);
  };
  for (const input of [a, b]) {
    input.oninput = () => tell(input, false);
    input.onchange = () => tell(input, true);
  }
  return h("div", { className: "double" }, a, b);
}

/** Two numbers to type; what is not an ascending pair is not taken. */
export function pair(value: [number, number], changed: (value: [number, number]) => void, label: string): HTMLElement {
  const inputs = value.map((v, i) => h("input", { type: "number", step: "any", value: String(Number(v.toPrecision(6))), ariaLabel: `${label}, ${i ? "upper" : "lower"} end` }));
  for (const input of inputs)
    input.onchange = () => {
      const [a, b] = inputs.map((n) => Number(n.value));
      if (a < b) changed([a, b]);
    };
  return h("div", { className: "pair" }, ...inputs);
}
