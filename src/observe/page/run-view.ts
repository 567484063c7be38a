import { type Change, changesOf } from "./changes.js";
import { h, scroller, setText } from "./dom.js";
import { number } from "./format.js";
import { COMBINED, type RunHistory } from "./page-history.js";
import type { PageConfig, PipelineView, RunView } from "./page-types.js";
import { RunCharts } from "./run-charts.js";
import { stateOf } from "./run-list.js";
import { showSteps } from "./run-steps.js";
import { ageText, showTiles, tilesOf } from "./run-tiles.js";
import { verdictItems } from "./verdict-text.js";

const PHASES = ["received", "queued", "scoring", "published", "applied"] as const;
/** How many of the newest changes are described in words. */
const CHANGES_SHOWN = 3;

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
  readonly #failed = h("p", { class: "failed bad" });
  readonly #tabs = h("div", { class: "tabs", role: "group", "aria-label": "Pipeline" });
  readonly #tiles = h("dl", { class: "tiles" });
  readonly #age = h("p", { class: "age" });
  readonly #verdict = h("ul", { class: "verdict", "aria-label": "What is wrong" });
  readonly #changes = h("ul", { class: "changes", "aria-label": "What was changed" });
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
          this.#failed,
          h("ol", { class: "phases", "aria-label": "Phase of the current step" }, ...this.#phases),
        ),
        this.#verdict,
        this.#tabs,
        this.#age,
        this.#tiles,
        this.#changes,
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
    const tabs = tabsOf(view);
    if (!tabs.some((p) => p.name === this.#pipeline)) this.#pipeline = firstOf(tabs)?.name;
    this.#showHead(view, history);
    verdictItems(this.#verdict, view);
    this.#showTabs(view, tabs);
    const pipeline = tabs.find((p) => p.name === this.#pipeline);
    if (!pipeline) return;
    const changes = changesOf(history.of(pipeline.name).results, history.mounts);
    showTiles(this.#tiles, tilesOf(view, history, pipeline));
    const age = ageText(history, pipeline);
    setText(this.#age, age);
    this.#tiles.classList.toggle("old", age !== "");
    this.#showChanges(changes);
    this.#charts.show(view, history, pipeline, changes);
    showSteps(this.#steps, history, pipeline, changes, (step) => this.#actions.openStep(step));
  }

  #showHead(view: RunView, history: RunHistory): void {
    const { sign, text } = stateOf(view);
    const pace = view.steps_per_minute === null ? "" : ` · ${number(view.steps_per_minute)} steps a minute`;
    setText(this.#title, `${sign} ${text}${pace}`);
    // A record comes up to a second before the overview that includes it.
    const { released } = history;
    const ahead =
      released !== undefined && released.incarnation === view.incarnation && released.step > (view.step ?? -1);
    const step = ahead ? released.step : view.step;
    const phase = ahead ? "applied" : view.phase;
    const settled = view.settled && !ahead ? ` · ${view.settled[0]} of ${view.settled[1]} pipelines done` : "";
    setText(this.#current, step === null ? "No step yet" : `Step ${step}${settled}`);
    const failed = step === null ? [] : history.failures(step);
    setText(this.#failed, failed.map((f) => `✕ ${f.pipeline}: ${f.code}`).join(" "));
    const at = phase === null ? -1 : PHASES.indexOf(phase);
    this.#phases.forEach((item, i) => {
      item.className = i < at ? "done" : i === at ? "at" : "";
      if (i === at) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    });
  }

  #showTabs(view: RunView, tabs: readonly PipelineView[]): void {
    const sick = (p: PipelineView): boolean => view.verdict.reasons.some((r) => r.pipeline === p.name);
    const shape = JSON.stringify([tabs, tabs.map(sick), this.#pipeline]);
    if (this.#tabs.dataset.shape === shape) return;
    const focused = this.#tabs.contains(document.activeElement);
    this.#tabs.dataset.shape = shape;
    const tab = (p: PipelineView): HTMLElement =>
      h(
        "button",
        { type: "button", "aria-pressed": String(p.name === this.#pipeline), click: () => this.#choose(p.name) },
        h("bdi", {}, `${sick(p) ? "▲ " : ""}${p.name === COMBINED ? "what the loss takes" : p.name}`),
        h("small", {}, aboutOf(p)),
      );
    this.#tabs.replaceChildren(...tabs.map(tab));
    if (focused) this.#tabs.querySelector<HTMLElement>("[aria-pressed=true]")?.focus();
  }

  #showChanges(changes: readonly Change[]): void {
    const texts = changes.slice(-CHANGES_SHOWN).map(({ step, text }) => `◆ From step ${step}: ${text}`);
    if (this.#changes.dataset.texts === texts.join("\n")) return;
    this.#changes.dataset.texts = texts.join("\n");
    this.#changes.replaceChildren(...texts.reverse().map((text) => h("li", {}, text)));
  }

  #choose(pipeline: string): void {
    this.#pipeline = pipeline;
    if (this.#view && this.#history) this.show(this.#view, this.#history);
  }
}

/** The composed weights come first, if there are weights at all. */
function tabsOf({ pipelines }: RunView): PipelineView[] {
  const weighing = pipelines.filter((p) => p.delivered && p.mechanism !== "mix");
  if (weighing.length === 0) return [...pipelines];
  const mechanism = weighing.some((p) => p.mechanism === "select") ? "select" : "reweight";
  const actuator = weighing.map((p) => p.name).join(" × ");
  const { stage, queue } = weighing.at(-1)!;
  const combined = {
    name: COMBINED,
    mechanism,
    stage,
    scorer: undefined,
    actuator,
    delivered: true,
    queue,
  } as const;
  return [combined, ...pipelines];
}

/** A single pipeline's tab shows more than that of the composed weights: scores and distributions. */
function firstOf(tabs: readonly PipelineView[]): PipelineView | undefined {
  const weighing = tabs.filter((p) => p.delivered && p.mechanism !== "mix");
  return weighing.length === 2 ? weighing[1] : (weighing[0] ?? tabs[0]);
}

function aboutOf({ name, mechanism, scorer, actuator, delivered }: PipelineView): string {
  if (name === COMBINED) return `${actuator}, clipped and rescaled`;
  return `${mechanism} · ${scorer ?? "no scorer"} → ${actuator}${delivered ? "" : " · shadow"}`;
}
