import { binLabels, usedBins } from "./bins.js";
import { Figure, type Line } from "./charts.js";
import { h, setText, table } from "./dom.js";
import { duration, NONE, number, percent } from "./format.js";
import type { RunHistory } from "./history.js";
import { stateOf } from "./run-list.js";
import type { PageConfig, PipelineView, ResultRecord, RunView } from "./types.js";

const PHASES = ["received", "queued", "scoring", "published", "applied"] as const;
const STEPS_SHOWN = 12;
/** Below it a reweighted batch counts for less than a third of its elements. */
const LOW_ESS = 0.3;
const COLORS = ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6"] as const;
/** Bins that were in use lately stay in view, so that the histogram does not jump. */
const RECENT = 30;

export interface RunActions {
  openStep(step: number): void;
}

/** The selected run: where its step stands, big numbers, charts over steps, newest steps. Built once a run, then only updated. */
export class RunPanel {
  readonly element: HTMLElement;
  readonly run: string;
  readonly #config: PageConfig;
  readonly #actions: RunActions;
  readonly #title = h("span", { class: "muted" });
  readonly #phases = PHASES.map((phase) => h("li", {}, phase));
  readonly #current = h("p", { class: "current" });
  readonly #tabs = h("div", { class: "tabs", role: "group", "aria-label": "Pipeline" });
  readonly #tiles = h("dl", { class: "tiles" });
  readonly #steps = h("div", { class: "scroll" });
  readonly #figures = {
    weights: new Figure("weights", "Weights of the last step", "How many elements have which weight"),
    ess: new Figure("ess", "Effective sample size and kept share", "ESS ratio; the dotted line marks 0.3"),
    mean: new Figure("mean", "Mean weight and quantiles", "Mean, and the band from the 10 % to the 90 % quantile"),
    shares: new Figure("shares", "Domain proportions", "What share each domain gets"),
    wait: new Figure("wait", "Trainer's wait, and time hidden behind its other work", "Seconds a step"),
    scores: new Figure("scores", "Scores of the last step", "How many elements have which score"),
  };
  #pipeline: string | undefined;
  #view: RunView | undefined;
  #history: RunHistory | undefined;

  constructor(run: string, config: PageConfig, actions: RunActions) {
    this.run = run;
    this.#config = config;
    this.#actions = actions;
    const f = this.#figures;
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
      h(
        "div",
        { class: "figures" },
        ...[f.weights, f.scores, f.shares, f.ess, f.mean, f.wait].map((figure) => figure.element),
      ),
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
    this.#showFigures(view, history, pipeline);
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
    const wait = history.wait(step) ?? [...history.waits.values()].at(-1);
    const hidden = history.hidden(step, deliveredOf(view)) ?? history.hidden(step - 1, deliveredOf(view));
    const tiles: [string, string, string][] = [
      ["Effective sample size", number(stats?.ess_ratio), low ? "bad" : ""],
      ["Kept rows", percent(stats?.kept_ratio), stats?.kept_ratio === 0 ? "bad" : ""],
      ["Mean weight", number(stats?.mean, 4), ""],
      ["Lowest – highest", stats ? `${number(stats.min, 2)} – ${number(stats.max, 2)}` : NONE, ""],
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

  #showFigures(view: RunView, history: RunHistory, pipeline: PipelineView): void {
    const { steps, results } = history.of(pipeline.name);
    const mix = pipeline.mechanism === "mix";
    const f = this.#figures;
    for (const figure of [f.weights, f.ess, f.mean]) figure.element.hidden = mix;
    f.shares.element.hidden = !mix;
    if (mix) this.#showShares(steps, results);
    else this.#showWeights(steps, results);
    this.#showHistogram(f.scores, results, (r) => r.score_bins, this.#config.score_edges, scoreWords);
    this.#showWait(view, history);
  }

  #showWeights(steps: readonly number[], results: readonly ResultRecord[]): void {
    const f = this.#figures;
    this.#showHistogram(f.weights, results, (r) => r.weight_bins, this.#config.weight_edges, weightWords);
    const last = results.at(-1)?.stats;
    if (!last) for (const figure of [f.ess, f.mean]) figure.nothing("No step with weights yet.");
    if (!last) return;
    const of = (read: (r: ResultRecord) => number | undefined): (number | null)[] =>
      results.map((r) => read(r) ?? null);
    f.ess.lines(`ESS ${number(last.ess_ratio)}, ${percent(last.kept_ratio)} of the rows kept`, {
      steps,
      range: [0, 1.02],
      limit: LOW_ESS,
      lines: [
        { label: "effective sample size", color: "--c1", values: of((r) => r.stats?.ess_ratio) },
        { label: "kept share", color: "--c2", dash: true, values: of((r) => r.stats?.kept_ratio) },
      ],
    });
    const q = (wanted: number): number => this.#config.quantiles.indexOf(wanted);
    const [low, high] = [q(0.1), q(0.9)];
    const edge = { color: "--c1", edge: true };
    f.mean.lines(`mean ${number(last.mean, 4)}, deviation ${number(last.std)}`, {
      steps,
      range: [0, null],
      bands: [[0, 1]],
      lines: [
        { label: "90 % quantile", ...edge, values: of((r) => r.quantiles?.[high]) },
        { label: "10 % quantile", ...edge, values: of((r) => r.quantiles?.[low]) },
        { label: "mean", color: "--c1", values: of((r) => r.stats?.mean) },
        { label: "median", color: "--c2", dash: true, values: of((r) => r.quantiles?.[q(0.5)]) },
      ],
    });
  }

  #showShares(steps: readonly number[], results: readonly ResultRecord[]): void {
    const last = results.at(-1)?.proportions;
    if (!last) {
      this.#figures.shares.nothing("No proportions yet.");
      return;
    }
    const domains = Object.keys(last);
    const lines = domains.map((domain, i): Line => {
      const values = results.map((r) => r.proportions?.[domain] ?? null);
      return { label: domain, color: COLORS[i % COLORS.length]!, dash: i >= COLORS.length, values, format: percent };
    });
    const words = domains.map((domain) => `${domain} ${percent(last[domain])}`).join(", ");
    this.#figures.shares.lines(words, { steps, range: [0, 1.02], lines });
  }

  #showWait(view: RunView, history: RunHistory): void {
    const steps = [...history.waits.keys()].sort((a, b) => a - b);
    const last = steps.at(-1);
    if (last === undefined) {
      this.#figures.wait.nothing("The trainer has not released a step yet.");
      return;
    }
    const names = deliveredOf(view);
    const seconds = (ms: number | undefined): number | null => (ms === undefined ? null : ms / 1_000);
    const inSeconds = (value: number | null): string => duration(value === null ? null : value * 1_000);
    this.#figures.wait.lines(
      `step ${last}: waited ${duration(history.wait(last))}, hidden ${duration(history.hidden(last, names))}`,
      {
        steps,
        range: [0, null],
        lines: [
          { label: "waited", color: "--c3", values: steps.map((s) => seconds(history.wait(s))), format: inSeconds },
          {
            label: "hidden",
            color: "--c1",
            dash: true,
            values: steps.map((s) => seconds(history.hidden(s, names))),
            format: inSeconds,
          },
        ],
      },
    );
  }

  #showHistogram(
    figure: Figure,
    results: readonly ResultRecord[],
    binsOf: (r: ResultRecord) => readonly number[] | undefined,
    edges: readonly number[],
    words: (last: ResultRecord) => string,
  ): void {
    const recent = results.slice(-RECENT).flatMap((r) => binsOf(r) ?? []);
    const last = results.at(-1);
    const now = last && binsOf(last);
    if (!last || !now || recent.length === 0) {
      figure.nothing("Nothing to count yet.");
      return;
    }
    const lists = results.slice(-RECENT).map((r) => binsOf(r) ?? []);
    const [from, to] = usedBins(lists, edges.length + 1);
    const before = results.at(-2);
    figure.bars(
      words(last),
      binLabels(edges).slice(from, to),
      now.slice(from, to),
      before && binsOf(before)?.slice(from, to),
    );
  }

  #showSteps(view: RunView, history: RunHistory, pipeline: PipelineView): void {
    const steps = history.newestSteps(STEPS_SHOWN);
    const shape = `${steps.join()} ${pipeline.name} ${history.newest}`;
    const holder = this.#steps;
    // A row under the finger or the focus does not move away.
    if (holder.dataset.shape === shape || holder.contains(document.activeElement)) return;
    holder.dataset.shape = shape;
    const result = (step: number): ResultRecord | undefined => history.at(pipeline.name, step);
    const open = (step: number): HTMLElement =>
      h("button", { type: "button", class: "link", click: () => this.#actions.openStep(step) }, `Step ${step}`);
    const failed = (step: number): string =>
      history
        .failures(step)
        .map((f) => `✕ ${f.code}`)
        .join(" ");
    holder.replaceChildren(
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

const deliveredOf = (view: RunView): string[] => view.pipelines.filter((p) => p.delivered).map((p) => p.name);

function weightWords({ step, stats, granularity }: ResultRecord): string {
  const what = granularity === "token" ? "tokens" : "rows";
  return stats ? `step ${step}: ${stats.n} ${what} from ${number(stats.min)} to ${number(stats.max)}` : `step ${step}`;
}
function scoreWords({ step, score_stats: scores }: ResultRecord): string {
  return scores ? `step ${step}: mean ${number(scores.mean)}, deviation ${number(scores.std)}` : `step ${step}`;
}
