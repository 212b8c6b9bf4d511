// viewer.ts -- starts the viewer on the page that the server gave, or that lies in a folder.
import { App } from "./app.ts";
import { byId } from "./dom.ts";
import { openSource } from "./source_open.ts";
import { fromHash } from "./state.ts";
import { Ui } from "./ui.ts";
import "./viewer.css";

declare global {
  interface Window {
    /** What the page shows, for tests. */
    bouma: { state(): Record<string, unknown>; app: App | null };
  }
}

let ui: Ui | null = null;
let there = true;
let error: string | null = null;
let lost = false; // the graphics card

function tell(): void {
  const box = byId("message");
  const text = !there ? "The server does not answer. Trying again …"
    : lost ? "The browser took the graphics card away. The picture comes back when it returns it; if not, reload the page." : error;
  box.hidden = text === null;
  box.textContent = text;
}

const source = openSource((isThere) => {
  there = isThere;
  tell();
});
window.bouma = { app: null, state: () => ({ ...(window.bouma.app?.state() ?? { phase: "loading" }), connected: there, message: byId("message").hidden ? null : byId("message").textContent }) };

try {
  const view = fromHash(location.hash);
  const app = new App(source, byId<HTMLCanvasElement>("canvas"), {
    changed: () => ui?.changed(),
    noted: (message) => ui?.note(message),
    worked() {
      error = null;
      tell();
    },
    progressed: () => ui?.progressed(),
    failed(message) {
      error = message;
      tell();
    },
  });
  app.view = view;
  ui = new Ui(app);
  window.bouma.app = app;
  app.scene.resize();
  for (const [name, isLost] of [["webglcontextlost", true], ["webglcontextrestored", false]] as const)
    app.scene.canvas.addEventListener(name, () => {
      lost = isLost;
      tell();
    });
  window.addEventListener("hashchange", () => {
    app.view = fromHash(location.hash);
    ui!.look();
    void app.open(app.view);
  });
  void app.open(view);
} catch (failure) {
  error = failure instanceof Error ? failure.message : String(failure);
  document.body.classList.add("broken");
  tell();
}
