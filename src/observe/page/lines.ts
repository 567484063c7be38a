import type { Change } from "./changes.js";
import { axis, color, drawChanges, drawLimit, padded, theme } from "./chart-parts.js";
import { type ColumnSpec, table } from "./dom.js";
import type { Figure } from "./figure.js";
import { number } from "./format.js";
import type uPlot from "./vendor/uplot.js";

export interface Line {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** Custom property with the line's colour. */
  readonly color: string;
  readonly dash?: boolean;
  /** Drawn only as the edge of a band. */
  readonly edge?: boolean;
  readonly format?: (value: number | null) => string;
}
export interface LineData {
  readonly words: string;
  readonly steps: readonly number[];
  readonly lines: readonly Line[];
  readonly changes: readonly Change[];
  /** The space between two lines is filled. */
  readonly band?: { readonly label: string; readonly upper: number; readonly lower: number };
  readonly range?: readonly [number | null, number | null];
  /** A threshold beyond which values are worrying. */
  readonly limit?: number;
}

/** Rows of a chart's table: the newest; all of them stand in the API. */
const ROWS = 50;
const STEP_GAPS = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1_000, 2_000, 5_000, 10_000, 50_000];

/** Lines over steps, with marks where something was changed. */
export function showLines(figure: Figure, data: LineData): void {
  const { steps, lines, limit, band } = data;
  const changes = data.changes.filter(({ step }) => step >= (steps[0] ?? 0) && step <= (steps.at(-1) ?? 0));
  const say = (line: Line, i: number): string => (line.format ?? number)(line.values[i] ?? null);
  const changed = (i: number): string => changes.find(({ step }) => step === steps[i])?.text ?? "";
  figure.show({
    words: data.words,
    shape: `lines ${lines.map((l) => l.label).join()} ${steps.length < 2} ${theme()}`,
    options: optionsOf(data),
    data: [steps, ...lines.map((l) => l.values)],
    legend: [
      ...lines
        .filter((l) => !l.edge)
        .map((l) => ({ label: l.label, key: `${l.color.slice(2)}${l.dash ? " dash" : ""}` })),
      ...(band ? [{ label: band.label, key: "band" }] : []),
      ...(limit === undefined ? [] : [{ label: `worry below ${limit}`, key: "limit" }]),
      ...(changes.length > 0 ? [{ label: "setup changed", key: "change" }] : []),
    ],
    table: () =>
      table(
        figure.title,
        columnsOf(),
        steps
          .map((_, i) => i)
          .slice(-ROWS)
          .reverse(),
        "No step yet.",
      ),
    at: (i) => {
      const values = lines.filter((l) => !l.edge).map((line) => `${line.label} ${say(line, i)}`);
      return [`step ${steps[i]}: ${values.join(", ")}`, changed(i)].filter(Boolean).join(" · ");
    },
    over: (chart) => {
      if (limit !== undefined) drawLimit(chart, limit);
      drawChanges(
        chart,
        changes.map(({ step }) => step),
      );
    },
  });

  function columnsOf(): ColumnSpec<number>[] {
    return [
      { head: "step", number: true, cell: (i) => steps[i]! },
      ...lines.map((line) => ({ head: line.label, number: true, cell: (i: number) => say(line, i) })),
      ...(changes.length > 0 ? [{ head: "changed", cell: changed }] : []),
    ];
  }
}

function optionsOf({ steps, lines, band, range }: LineData): Partial<uPlot.Options> {
  const series = lines.map(
    (line): uPlot.Series => ({
      label: line.label,
      stroke: line.edge ? "transparent" : color(line.color),
      width: line.edge ? 0 : 2,
      ...(line.dash ? { dash: [6, 4] } : {}),
      points: { show: steps.length < 2, size: 6 },
      spanGaps: true,
    }),
  );
  const alone = steps.length === 1 ? { range: [steps[0]! - 1, steps[0]! + 1] as [number, number] } : {};
  return {
    series: [{ label: "step" }, ...series],
    bands: band ? [{ series: [band.upper + 1, band.lower + 1], fill: color("--band") }] : [],
    scales: {
      x: { time: false, ...alone },
      y: { range: (_: uPlot, low: number, high: number) => padded(low, high, range) },
    },
    axes: [
      axis({ incrs: STEP_GAPS }),
      axis({ size: 58, values: (_: uPlot, at: number[]) => at.map((v) => (lines[0]?.format ?? number)(v)) }),
    ],
  };
}
