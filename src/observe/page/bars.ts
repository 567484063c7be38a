import { axis, color, theme } from "./chart-parts.js";
import { table } from "./dom.js";
import type { Figure } from "./figure.js";
import { NONE, number } from "./format.js";
import uPlot from "./vendor/uplot.js";

export interface BarData {
  readonly words: string;
  readonly labels: readonly string[];
  readonly now: readonly number[];
  readonly before: readonly number[] | undefined;
}

/** More labels than this are rotated. */
const UPRIGHT = 9;

/** Bins of this step as bars, of the step before as an outline. */
export function showBars(figure: Figure, { words, labels, now, before }: BarData): void {
  const places = labels.map((_, i) => i);
  // An empty bin has no bar, not one of no height with an outline.
  const drawn = (list: readonly number[] | undefined): (number | null)[] => places.map((i) => list?.[i] || null);
  figure.show({
    words,
    shape: `bars ${labels.join()} ${theme()}`,
    options: optionsOf(labels, places),
    data: [places, drawn(now), drawn(before)],
    legend: [
      { label: "this step", key: "c1" },
      { label: "the step before (outline)", key: "c2" },
    ],
    table: () =>
      table(
        figure.title,
        [
          { head: "bin", cell: (i) => labels[i]! },
          { head: "this step", number: true, cell: (i) => now[i] ?? 0 },
          { head: "the step before", number: true, cell: (i) => before?.[i] ?? NONE },
        ],
        places,
        "No step yet.",
      ),
    at: (i) => `${labels[i]}: ${now[i] ?? 0}, the step before ${before?.[i] ?? NONE}`,
  });
}

function optionsOf(labels: readonly string[], places: readonly number[]): Partial<uPlot.Options> {
  const bars = (): uPlot.Series.PathBuilder => uPlot.paths.bars!({ size: [0.8, 64] });
  const points = { show: false };
  const many = labels.length > UPRIGHT;
  return {
    series: [
      {},
      { label: "this step", paths: bars(), fill: color("--c1-soft"), stroke: color("--c1"), width: 1, points },
      { label: "the step before", paths: bars(), stroke: color("--c2"), width: 2, points },
    ],
    scales: {
      // Half a bar more at either end, or the outer ones are cut.
      x: { time: false, range: [-0.6, labels.length - 0.4] },
      y: { range: (_: uPlot, __: number, high: number) => [0, Math.max(1, high * 1.08)] },
    },
    axes: [
      axis({
        splits: () => [...places],
        values: () => labels.slice(),
        grid: { show: false },
        space: 10,
        rotate: many ? -45 : 0,
        size: many ? 50 : 34,
      }),
      axis({ size: 58, values: (_: uPlot, at: number[]) => at.map((v) => (Number.isInteger(v) ? number(v) : "")) }),
    ],
  };
}
