import { showBars } from "./bars.js";
import { binLabels, usedBins } from "./bins.js";
import type { Change } from "./changes.js";
import { h } from "./dom.js";
import { Figure } from "./figure.js";
import { duration, number, percent } from "./format.js";
import { type Line, showLines } from "./lines.js";
import { COMBINED, type RunHistory, type Series } from "./page-history.js";
import type { PageConfig, PipelineView, ResultRecord, RunView } from "./page-types.js";

const COLORS = ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6"] as const;
/** Bins that were in use lately stay in view, so that the histogram does not jump. */
const RECENT = 30;

/** The charts of a run's selected pipeline. */
export class RunCharts {
  readonly element: HTMLElement;
  readonly #config: PageConfig;
  readonly #figures = {
    weights: new Figure("weights", "Weights of the last step", "How many elements have which weight"),
    ess: new Figure(
      "ess",
      "Effective sample size and kept share",
      "How many rows count in effect, as a share; and how many have a weight above 0",
    ),
    mean: new Figure("mean", "Mean weight and quantiles", "Mean, and the band from the 10 % to the 90 % quantile"),
    shares: new Figure("shares", "Domain proportions", "What share each domain gets"),
    wait: new Figure("wait", "Trainer's wait, and time hidden behind its other work", "Seconds a step"),
    scores: new Figure("scores", "Scores of the last step", "How many elements have which score"),
  };

  constructor(config: PageConfig) {
    this.#config = config;
    const f = this.#figures;
    const all = [f.weights, f.shares, f.scores, f.ess, f.mean, f.wait];
    this.element = h("div", { class: "figures" }, ...all.map((figure) => figure.element));
  }

  show(view: RunView, history: RunHistory, pipeline: PipelineView, changes: readonly Change[]): void {
    const { steps, results } = history.of(pipeline.name);
    // What is drawn, and may be asked for as a table later, does not grow with the history.
    const series = { steps: [...steps], results: [...results] };
    const mix = pipeline.mechanism === "mix";
    const f = this.#figures;
    const combined = pipeline.name === COMBINED;
    for (const figure of [f.ess, f.mean]) figure.element.hidden = mix;
    // The trainer reports no distribution of what it composed.
    f.weights.element.hidden = mix || combined;
    f.shares.element.hidden = !mix;
    // Only pipelines that score have scores.
    f.scores.element.hidden = (mix || combined) && !series.results.some((r) => r.score_bins);
    if (mix) this.#showShares(series, changes);
    else this.#showWeights(series, changes, pipeline.mechanism === "reweight");
    this.#showHistogram(f.scores, series.results, (r) => r.score_bins, this.#config.score_edges, scoreWords);
    this.#showWait(view, history, changes);
  }

  #showWeights({ steps, results }: Series, changes: readonly Change[], guarded: boolean): void {
    const f = this.#figures;
    this.#showHistogram(f.weights, results, (r) => r.weight_bins, this.#config.weight_edges, weightWords);
    const last = results.at(-1)?.stats;
    if (!last) for (const figure of [f.ess, f.mean]) figure.nothing("No step with weights yet.");
    if (!last) return;
    const of = (read: (r: ResultRecord) => number | undefined): (number | null)[] =>
      results.map((r) => read(r) ?? null);
    showLines(f.ess, {
      words: `ESS ${number(last.ess_ratio)}, kept ${percent(last.kept_ratio)}`,
      steps,
      changes,
      range: [0, 1.02],
      // What a selection leaves out is no sign of trouble: the verdict judges what it keeps.
      ...(guarded && { limit: this.#config.low_ess }),
      lines: [
        { label: "effective sample size", color: "--c1", values: of((r) => r.stats?.ess_ratio) },
        { label: "kept share", color: "--c2", dash: true, values: of((r) => r.stats?.kept_ratio), format: percent },
      ],
    });
    const q = (wanted: number): number => this.#config.quantiles.indexOf(wanted);
    const [low, high] = [q(0.1), q(0.9)];
    const edge = { color: "--c1", edge: true };
    showLines(f.mean, {
      words: `mean ${number(last.mean, 4)}, deviation ${number(last.std)}`,
      steps,
      changes,
      range: [0, null],
      band: { label: "10 % to 90 %", upper: 0, lower: 1 },
      lines: [
        { label: "90 % quantile", ...edge, values: of((r) => r.quantiles?.[high]) },
        { label: "10 % quantile", ...edge, values: of((r) => r.quantiles?.[low]) },
        { label: "mean", color: "--c1", values: of((r) => r.stats?.mean) },
        { label: "median", color: "--c2", dash: true, values: of((r) => r.quantiles?.[q(0.5)]) },
      ],
    });
  }

  #showShares({ steps, results }: Series, changes: readonly Change[]): void {
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
    showLines(this.#figures.shares, { words, steps, changes, range: [0, 1.02], lines });
  }

  #showWait(view: RunView, history: RunHistory, changes: readonly Change[]): void {
    const steps = history.waited;
    const last = steps.at(-1);
    if (last === undefined) {
      this.#figures.wait.nothing("The trainer has not released a step yet.");
      return;
    }
    const names = deliveredOf(view);
    const seconds = (ms: number | undefined): number | null => (ms === undefined ? null : ms / 1_000);
    const format = (value: number | null): string => duration(value === null ? null : value * 1_000);
    const [waited, hidden] = [(s: number) => history.wait(s), (s: number) => history.hidden(s, names)];
    showLines(this.#figures.wait, {
      words: `step ${last}: waited ${duration(waited(last))}, hidden ${duration(hidden(last))}`,
      steps,
      changes,
      range: [0, null],
      lines: [
        { label: "waited", color: "--c3", values: steps.map((s) => seconds(waited(s))), format },
        { label: "hidden", color: "--c1", dash: true, values: steps.map((s) => seconds(hidden(s))), format },
      ],
    });
  }

  #showHistogram(
    figure: Figure,
    results: readonly ResultRecord[],
    binsOf: (r: ResultRecord) => readonly number[] | undefined,
    edges: readonly number[],
    words: (last: ResultRecord) => string,
  ): void {
    const last = results.at(-1);
    const now = last && binsOf(last);
    if (!last || !now) {
      figure.nothing("Nothing to count yet.");
      return;
    }
    const lists = results.slice(-RECENT).map((r) => binsOf(r) ?? []);
    const [from, to] = usedBins(lists, edges.length + 1);
    const before = results.at(-2);
    showBars(figure, {
      words: words(last),
      labels: binLabels(edges).slice(from, to),
      now: now.slice(from, to),
      before: before && binsOf(before)?.slice(from, to),
    });
  }
}

export const deliveredOf = (view: RunView): string[] => view.pipelines.filter((p) => p.delivered).map((p) => p.name);

function weightWords({ step, stats, granularity }: ResultRecord): string {
  const what = granularity === "token" ? "tokens" : "rows";
  return stats ? `step ${step}: ${stats.n} ${what} from ${number(stats.min)} to ${number(stats.max)}` : `step ${step}`;
}
function scoreWords({ step, score_stats: scores }: ResultRecord): string {
  return scores ? `step ${step}: mean ${number(scores.mean)}, deviation ${number(scores.std)}` : `step ${step}`;
}
