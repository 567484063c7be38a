import { h, setText } from "./dom.js";
import { duration, NONE, number, percent } from "./format.js";
import type { RunHistory } from "./page-history.js";
import type { PipelineView, RunView } from "./page-types.js";
import { deliveredOf, LOW_ESS } from "./run-charts.js";

/** Domains that get a tile of their own. */
const DOMAINS = 5;

interface Tile {
  readonly name: string;
  readonly value: string;
  /** Why the value is worrying. */
  readonly bad?: string | false | undefined;
  /** The value is watched and fine. */
  readonly good?: boolean;
}

/** The big numbers of a pipeline's last step. */
export function tilesOf(view: RunView, history: RunHistory, pipeline: PipelineView): Tile[] {
  const { results, steps } = history.of(pipeline.name);
  const last = results.at(-1);
  const step = steps.at(-1) ?? -1;
  const wait = history.wait(step) ?? history.wait(history.waited.at(-1) ?? -1);
  const hidden = history.hidden(step, deliveredOf(view)) ?? history.hidden(step - 1, deliveredOf(view));
  const times = [
    { name: "Trainer waited", value: duration(wait) },
    { name: "Hidden time", value: duration(hidden) },
  ];
  if (pipeline.mechanism === "mix") {
    const shares = Object.entries(last?.proportions ?? {}).slice(0, DOMAINS);
    return [...shares.map(([name, share]) => ({ name, value: percent(share) })), ...times];
  }
  const { stats } = last ?? {};
  // A selection rests on few rows on purpose.
  const guarded = pipeline.mechanism === "reweight" && stats !== undefined;
  const low = guarded && stats.ess_ratio < LOW_ESS;
  const none = stats?.kept_ratio === 0;
  const clipped = history.released?.combined?.clipped;
  return [
    {
      name: "Effective sample",
      value: number(stats?.ess_ratio),
      bad: low && `below ${LOW_ESS}`,
      good: guarded && !low,
    },
    {
      name: "Kept rows",
      value: percent(stats?.kept_ratio),
      bad: none && "nothing kept",
      good: stats !== undefined && !none,
    },
    { name: "Mean weight", value: number(stats?.mean, 4) },
    { name: "Lowest – highest", value: stats ? `${number(stats.min, 2)} – ${number(stats.max, 2)}` : NONE },
    { name: "Clipped", value: clipped === undefined ? NONE : percent(clipped.low + clipped.high) },
    ...times,
  ];
}

/** The product of several pipelines in words; a single pipeline needs none. */
export function togetherText(view: RunView, { released }: RunHistory): string {
  const weighing = view.pipelines.filter((p) => p.delivered && p.mechanism !== "mix");
  if (weighing.length < 2 || !released?.combined) return "";
  const { stats } = released.combined;
  const facts = [
    `effective sample ${number(stats.ess_ratio)}`,
    `kept ${percent(stats.kept_ratio)}`,
    `mean ${number(stats.mean)} ± ${number(stats.std)}`,
    `highest ${number(stats.max)}`,
  ];
  return `All ${weighing.length} together, as the loss took them at step ${released.step}: ${facts.join(" · ")}`;
}

/** Updated in place, so that nothing is read out twice. */
export function showTiles(list: HTMLElement, tiles: readonly Tile[]): void {
  const names = tiles.map((t) => t.name).join("\n");
  if (list.dataset.names !== names) {
    list.dataset.names = names;
    const made = ({ name }: Tile): HTMLElement => h("div", { "data-name": name }, h("dt", {}, name), h("dd", {}));
    list.replaceChildren(...tiles.map(made));
  }
  tiles.forEach(({ value, bad, good }, i) => {
    const tile = list.children[i]!;
    tile.className = bad ? "bad" : good ? "good" : "";
    setText(tile.lastElementChild!, bad ? `▲ ${value}` : value);
    if (bad) tile.setAttribute("title", bad);
    else tile.removeAttribute("title");
  });
}
