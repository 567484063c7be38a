import { h, refill, scroller, setText, table } from "./dom.js";
import { duration, NONE, number, percent } from "./format.js";
import type { RunHistory } from "./history.js";
import { deliveredOf, LOW_ESS, RunCharts } from "./run-charts.js";
import { stateOf } from "./run-list.js";
import type { PageConfig, PipelineView, ResultRecord, RunView } from "./types.js";

const PHASES = ["received", "queued", "scoring", "published", "applied"] as const;
const STEPS_SHOWN = 12;

export interface RunActions {
  openStep(step: number): void;
}

/** The selected run: where its step stands, big numbers, charts over steps, newest steps. Built once a run, then only updated. */
export class RunPanel {
  readonly element: HTMLElement;
  readonly run: string;
  readonly #actions: RunActions;
  readonly #title = h("span", { class: "muted" });
  readonly #phases = PHASES.map((phase) => h("li", {}, phase));
  readonly #current = h("p", { class: "current" });
  readonly #tabs = h("div", { class: "tabs", role: "group", "aria-label": "Pipeline" });
  readonly #tiles = h("dl", { class: "tiles" });
  readonly #steps = scroller("Newest steps");
  readonly #charts: RunCharts;
  #pipeline: string | undefined;
  #view: RunView | undefined;
  #history: RunHistory | undefined;

  constructor(run: string, config: PageConfig, actions: RunActions) {
    this.run = run;
    this.#actions = actions;
    this.#charts = new RunCharts(config);
    this.element = h(
      "div",
      { class: "run" },
      h(
        "section",
        { class: "card head", "aria-labelledby": "run-title" },
        h("div", { class: "run-title" }, h("h2", { id: "run-title" }, h("bdi", {}, run)), this.#title),
        h(
          "div",
          { class: "progress" },
          this.#current,
          h("ol", { class: "phases", "aria-label": "Phase of the current step" }, ...this.#phases),
        ),
        this.#tabs,
        this.#tiles,
      ),
      this.#charts.element,
      h(
        "section",
        { class: "card", "aria-labelledby": "steps-title" },
        h("h3", { id: "steps-title" }, "Newest steps"),
        this.#steps,
      ),
    );
  }

  show(view: RunView, history: RunHistory): void {
    this.#view = view;
    this.#history = history;
    if (!view.pipelines.some((p) => p.name === this.#pipeline)) {
      this.#pipeline = (
        view.pipelines.find((p) => p.delivered && p.mechanism === "reweight") ?? view.pipelines[0]
      )?.name;
    }
    this.#showHead(view);
    this.#showTabs(view);
    const pipeline = view.pipelines.find((p) => p.name === this.#pipeline);
    if (!pipeline) return;
    this.#showTiles(view, history, pipeline);
    this.#charts.show(view, history, pipeline);
    this.#showSteps(view, history, pipeline);
  }

  #showHead(view: RunView): void {
    const { sign, text } = stateOf(view);
    const pace = view.steps_per_minute === null ? "" : ` · ${number(view.steps_per_minute)} steps a minute`;
    setText(this.#title, `${sign} ${text}${pace}`);
    const settled = view.settled ? ` · ${view.settled[0]} of ${view.settled[1]} pipelines done` : "";
    setText(this.#current, view.step === null ? "No step yet" : `Step ${view.step}${settled}`);
    const at = view.phase === null ? -1 : PHASES.indexOf(view.phase);
    this.#phases.forEach((item, i) => {
      item.className = i < at ? "done" : i === at ? "at" : "";
      if (i === at) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    });
  }

  #showTabs(view: RunView): void {
    const shape = JSON.stringify([view.pipelines, this.#pipeline]);
    if (this.#tabs.dataset.shape === shape) return;
    const focused = this.#tabs.contains(document.activeElement);
    this.#tabs.dataset.shape = shape;
    const tab = (p: PipelineView): HTMLElement =>
      h(
        "button",
        { type: "button", "aria-pressed": String(p.name === this.#pipeline), click: () => this.#choose(p.name) },
        h("bdi", {}, p.name),
        h("small", {}, `${p.mechanism} · ${p.scorer ?? "no scorer"} → ${p.actuator}${p.delivered ? "" : " · shadow"}`),
      );
    this.#tabs.replaceChildren(...view.pipelines.map(tab));
    if (focused) this.#tabs.querySelector<HTMLElement>("[aria-pressed=true]")?.focus();
  }

  #choose(pipeline: string): void {
    this.#pipeline = pipeline;
    if (this.#view && this.#history) this.show(this.#view, this.#history);
  }

  #showTiles(view: RunView, history: RunHistory, pipeline: PipelineView): void {
    const { results, steps } = history.of(pipeline.name);
    const last = results.at(-1);
    const step = steps.at(-1) ?? -1;
    const { stats } = last ?? {};
    const low = pipeline.mechanism === "reweight" && stats !== undefined && stats.ess_ratio < LOW_ESS;
    const clipped = history.released?.combined?.clipped;
    const wait = history.wait(step) ?? [...history.waits.values()].at(-1);
    const hidden = history.hidden(step, deliveredOf(view)) ?? history.hidden(step - 1, deliveredOf(view));
    const tiles: [string, string, string][] = [
      ["Effective sample size", number(stats?.ess_ratio), low ? "bad" : ""],
      ["Kept rows", percent(stats?.kept_ratio), stats?.kept_ratio === 0 ? "bad" : ""],
      ["Mean weight", number(stats?.mean, 4), ""],
      ["Lowest – highest", stats ? `${number(stats.min, 2)} – ${number(stats.max, 2)}` : NONE, ""],
      ["Clipped", clipped === undefined ? NONE : percent(clipped.low + clipped.high), ""],
      ["Trainer waited", duration(wait), ""],
      ["Hidden time", duration(hidden), ""],
    ];
    if (this.#tiles.children.length !== tiles.length) {
      this.#tiles.replaceChildren(...tiles.map(([name]) => h("div", {}, h("dt", {}, name), h("dd", {}))));
    }
    tiles.forEach(([name, value, state], i) => {
      const tile = this.#tiles.children[i]!;
      tile.className = state;
      tile.setAttribute("data-name", name);
      setText(tile.lastElementChild!, state === "bad" ? `▲ ${value}` : value);
    });
  }

  #showSteps(view: RunView, history: RunHistory, pipeline: PipelineView): void {
    const steps = history.newestSteps(STEPS_SHOWN);
    const shape = `${steps.join()} ${pipeline.name} ${history.newest}`;
    const holder = this.#steps;
    if (holder.dataset.shape === shape) return;
    holder.dataset.shape = shape;
    const result = (step: number): ResultRecord | undefined => history.at(pipeline.name, step);
    const open = (step: number): HTMLElement =>
      h(
        "button",
        { type: "button", class: "link", "data-key": step, click: () => this.#actions.openStep(step) },
        `Step ${step}`,
      );
    const failed = (step: number): string =>
      history
        .failures(step)
        .map((f) => `✕ ${f.code}`)
        .join(" ");
    refill(
      holder,
      table(
        `Newest steps of pipeline ${pipeline.name}`,
        [
          { head: "step", cell: open },
          { head: "ESS", number: true, cell: (s) => number(result(s)?.stats?.ess_ratio) },
          { head: "kept", number: true, cell: (s) => percent(result(s)?.stats?.kept_ratio) },
          { head: "mean", number: true, cell: (s) => number(result(s)?.stats?.mean, 4) },
          { head: "highest", number: true, cell: (s) => number(result(s)?.stats?.max) },
          { head: "took", number: true, cell: (s) => duration(result(s)?.ms) },
          { head: "waited", number: true, cell: (s) => duration(history.wait(s)) },
          { head: "notes", cell: (s) => [failed(s), ...(result(s)?.flags ?? [])].filter(Boolean).join(" ") },
        ],
        steps,
        view.pipelines.length === 0 ? "Nothing is mounted." : "No step yet: the trainer's first put starts one.",
      ),
    );
  }
}
