import { h, setText } from "./dom.js";
import { duration, NONE, number, percent } from "./format.js";
import type { RunHistory } from "./page-history.js";
import type { PipelineView, RunView } from "./page-types.js";
import { deliveredOf } from "./run-charts.js";

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
  const reason = (...codes: string[]): string | undefined => {
    return view.verdict.reasons.find((r) => codes.includes(r.code) && r.pipeline === pipeline.name)?.text;
  };
  // Good: a rule judges it, and has nothing against it for any pipeline.
  const judged = (...codes: string[]): Pick<Tile, "bad" | "good"> => {
    const isSick = view.verdict.reasons.some((r) => codes.includes(r.code));
    return { bad: reason(...codes), good: stats !== undefined && pipeline.delivered && !isSick };
  };
  const clipped = history.released?.combined?.clipped;
  return [
    { name: "Effective sample", value: number(stats?.ess_ratio), ...judged("few_rows", "one_row") },
    { name: "Kept rows", value: percent(stats?.kept_ratio), ...judged("nothing_kept") },
    { name: "Mean weight", value: number(stats?.mean, 4), ...judged("mean") },
    { name: "Lowest – highest", value: stats ? `${number(stats.min, 2)} – ${number(stats.max, 2)}` : NONE },
    { name: "Clipped", value: clipped === undefined ? NONE : percent(clipped.low + clipped.high) },
    ...times,
  ];
}

/** Names the step that the numbers are of, where a later step has none; "" where it is the newest. */
export function ageText(history: RunHistory, pipeline: PipelineView): string {
  const { released } = history;
  const last = history.of(pipeline.name).steps.at(-1);
  if (last === undefined || !released || released.step <= last) return "";
  return `Numbers of step ${last}: step ${released.step}, the newest, has none.`;
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
