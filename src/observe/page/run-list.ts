import { h, setText } from "./dom.js";
import { number } from "./format.js";
import type { RunView } from "./page-types.js";
import { verdictSign } from "./verdict-text.js";

const STATES: Record<RunView["state"], { sign: string; text: string }> = {
  live: { sign: "●", text: "live" },
  no_worker: { sign: "▲", text: "waiting for a worker" },
  silent: { sign: "■", text: "trainer silent" },
  ended: { sign: "○", text: "ended" },
};
export const stateOf = (run: RunView): { sign: string; text: string } => STATES[run.state];

const SVG = "http://www.w3.org/2000/svg";

/** The list of runs as buttons; the selected one is marked. Kept in place while it updates, so that focus stays where it is. */
export class RunList {
  readonly #list: HTMLElement;
  readonly #select: (run: string) => void;
  readonly #items = new Map<string, ReturnType<typeof itemOf>>();

  constructor(list: HTMLElement, select: (run: string) => void) {
    this.#list = list;
    this.#select = select;
  }

  /** Sick runs first, else in the order given. */
  show(given: readonly RunView[], selected: string | undefined): void {
    const rank = (run: RunView): number => ["bad", "warn"].indexOf(verdictSign(run)?.level ?? "");
    const runs = [0, 1, -1].flatMap((wanted) => given.filter((run) => rank(run) === wanted));
    for (const [name, item] of this.#items) {
      if (runs.some((r) => r.run === name)) continue;
      item.element.remove();
      this.#items.delete(name);
    }
    runs.forEach((run, i) => {
      const item = this.#items.get(run.run) ?? itemOf(run.run, () => this.#select(run.run));
      this.#items.set(run.run, item);
      item.show(run, run.run === selected);
      if (this.#list.children[i] !== item.element)
        this.#list.insertBefore(item.element, this.#list.children[i] ?? null);
    });
    this.#list.querySelector(".empty")?.remove();
    if (runs.length === 0) this.#list.append(h("li", { class: "empty muted" }, "No run is mounted yet."));
  }
}

function itemOf(name: string, select: () => void) {
  const sign = h("span", { class: "sign", "aria-hidden": "true" });
  const state = h("span", { class: "muted" });
  const step = h("span", { class: "step" });
  const ess = h("span", { class: "ess" });
  const spark = document.createElementNS(SVG, "svg");
  spark.setAttribute("viewBox", "0 0 80 20");
  spark.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(SVG, "polyline");
  spark.append(line);
  const trend = h("span", { class: "trend" }, spark, ess);
  const kind = h("span");
  const pace = h("span");
  const button = h(
    "button",
    { type: "button", click: select },
    h("span", { class: "name" }, sign, h("bdi", { title: name }, name)),
    h("span", { class: "facts" }, step, state),
    h("span", { class: "facts muted" }, kind, pace),
    trend,
  );
  return {
    element: h("li", {}, button),
    show(run: RunView, selected: boolean): void {
      const { sign: mark, text } = stateOf(run);
      const sick = verdictSign(run);
      setText(sign, sick?.sign ?? mark);
      sign.className = `sign ${sick?.level ?? run.state}`;
      setText(state, text);
      button.title = sick ? run.verdict.reasons.map((r) => r.text).join("\n") : "";
      setText(step, run.step === null ? "no step yet" : `step ${run.step}`);
      setText(kind, [...new Set(run.pipelines.map((p) => p.mechanism))].join(" + "));
      setText(pace, run.steps_per_minute === null ? "" : `${number(run.steps_per_minute)} a minute`);
      const last = run.spark.at(-1);
      // Numbers of a step long past would look like health.
      trend.hidden =
        last === undefined || run.verdict.reasons.some((r) => r.code === "no_weights" && r.level === "bad");
      setText(ess, last === undefined ? "" : `ESS ${number(last, 2)}`);
      const gap = 80 / Math.max(1, run.spark.length - 1);
      line.setAttribute(
        "points",
        run.spark.map((v, i) => `${(i * gap).toFixed(1)},${(19 - 18 * v).toFixed(1)}`).join(" "),
      );
      if (selected) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    },
  };
}
