import type uPlotType from "uplot";
import { format } from "./format.js";
import { CLASSIC, colourOf } from "./palette.js";
import { axis, drawIll, LEGEND_LINE, legendOf, type Size, TITLE, timeAxis } from "./parts.js";
import type { DrawnPanel } from "./types.js";

/** The script puts uPlot's own file into the page before this one. */
declare const uPlot: typeof uPlotType;

/** As the dashboards have it. */
const LINEAR_BELOW = 0.01;
/** Round steps of a time axis up to an hour. */
const SECONDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1_200];

export function plotLines(panel: DrawnPanel, ill: number | null, { width, height }: Size): HTMLElement {
  const shown = panel.series.map((s, i) => ({ ...s, color: CLASSIC[i % CLASSIC.length]! }));
  const legend = legendOf(shown.map(({ name, color }) => ({ name, color })));
  const rows = curves(panel);
  const series = shown.map(({ color }, i) => ({
    stroke: color,
    width: 1.5,
    points: { show: false },
    spanGaps: false,
    ...(panel.stacked ? { fill: `${color}66` } : {}),
    label: String(i),
  }));
  const box = document.createElement("div");
  const lines = Math.min(3, Math.ceil(shown.reduce((n, s) => n + s.name.length * 6.3 + 30, 0) / width));
  const options: uPlotType.Options = {
    width,
    height: height - TITLE - Math.max(1, lines) * LEGEND_LINE - 6,
    padding: [6, 18, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: [0, panel.times.at(-1) ?? 1] },
      y: {
        ...(panel.log && { distr: 4 as const, asinh: LINEAR_BELOW }),
        range: (_, low, high) => bounds(panel, low, high),
      },
    },
    // The highest sum first: what is stacked is painted from the back to the front.
    series: [{}, ...(panel.stacked ? series.toReversed() : series)],
    axes: [timeAxis(), valueAxis(panel)],
    hooks: { drawClear: [(u) => drawAreas(u, panel)], draw: [(u) => drawIll(u, ill)] },
  };
  const data = [panel.times, ...(panel.stacked ? rows.toReversed() : rows)] as unknown as uPlotType.AlignedData;
  new uPlot(options, data, box);
  box.append(legend);
  return box;
}

/** Curves as they are, or each on top of those before it. */
function curves({ stacked, series }: DrawnPanel): (number | null)[][] {
  if (!stacked) return series.map((s) => [...s.values]);
  const sums = (series[0]?.values ?? []).map(() => 0);
  return series.map((s) =>
    s.values.map((v, i) => {
      sums[i]! += v ?? 0;
      return v === null ? null : sums[i]!;
    }),
  );
}

function bounds({ min, max }: DrawnPanel, low: number | null, high: number | null): [number, number] {
  const [least, most] = [low ?? 0, high ?? 1];
  const air = most > least ? 0.06 * (most - least) : Math.abs(most) * 0.1 || 1;
  // As in Grafana, a fixed bound is not padded.
  return [min ?? (least >= 0 && least - air < 0 ? 0 : least - air), max ?? most + air];
}

function drawAreas(u: uPlotType, { areas, thresholds }: DrawnPanel): void {
  if (!areas) return;
  const { ctx, bbox } = u;
  const { min = 0, max = 1 } = u.scales.y ?? {};
  thresholds.forEach(({ value, color }, i) => {
    const from = Math.max(value ?? min, min);
    const to = Math.min(thresholds[i + 1]?.value ?? max, max);
    if (to <= from) return;
    const [top, bottom] = [u.valToPos(to, "y", true), u.valToPos(from, "y", true)];
    ctx.save();
    ctx.fillStyle = colourOf(color);
    ctx.globalAlpha = 0.13;
    ctx.fillRect(bbox.left, top, bbox.width, bottom - top);
    ctx.restore();
  });
}

/** A logarithmic one is labelled at 0 and at powers of ten from 0.1. */
function valueAxis({ log, unit }: DrawnPanel): uPlotType.Axis {
  const powers = [0, ...Array.from({ length: 7 }, (_, i) => 10 ** (i - 1))];
  return axis({
    size: 58,
    space: 24,
    ...(unit === "s" && { incrs: SECONDS }),
    values: (_, at) => at.map((v) => format(v, unit)),
    ...(log && {
      splits: (u: uPlotType) => powers.filter((v) => v <= (u.scales.y?.max ?? 1)),
      // By default uPlot would leave some of them out.
      filter: (_: uPlotType, splits: number[]) => splits,
    }),
  });
}
