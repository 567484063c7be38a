import type uPlotType from "uplot";
import { clock, format } from "./format.js";
import { CLASSIC, colourOf, viridis } from "./palette.js";
import type { DrawnPanel } from "./types.js";

/** The script puts uPlot's own file into the page before this one. */
declare const uPlot: typeof uPlotType;

/** As the dashboards have it. */
const LINEAR_BELOW = 0.01;
/** Round steps of a time axis up to an hour. */
const SECONDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1_200];
const FONT = "11px Inter, system-ui, sans-serif";
const LEGEND_LINE = 18;
const TITLE = 30;

type Size = { readonly width: number; readonly height: number };

const axis = (more: uPlotType.Axis): uPlotType.Axis => ({
  stroke: "#9fa7b3",
  font: FONT,
  grid: { stroke: "rgba(204,204,220,.09)", width: 1 },
  ticks: { show: false },
  gap: 6,
  ...more,
});
/** Of a logarithmic one zero and powers of ten from 0.1. */
function valueAxis({ log, unit }: DrawnPanel): uPlotType.Axis {
  const powers = [0, ...Array.from({ length: 7 }, (_, i) => 10 ** (i - 1))];
  return axis({
    size: 58,
    space: 24,
    ...(unit === "s" && { incrs: SECONDS }),
    values: (_, at) => at.map((v) => format(v, unit)),
    ...(log && {
      splits: (u: uPlotType) => powers.filter((v) => v <= (u.scales.y?.max ?? 1)),
      // uPlot would leave out what is no round power of its own.
      filter: (_: uPlotType, splits: number[]) => splits,
    }),
  });
}
const timeAxis = () => axis({ size: 26, incrs: [30, 60, 120], space: 60, values: (_, at) => at.map(clock) });

/** A line that all charts of a picture have: when the illness began. */
function drawIll(u: uPlotType, ill: number | null): void {
  if (ill === null) return;
  const x = Math.round(u.valToPos(ill, "x", true));
  const { ctx, bbox } = u;
  ctx.save();
  ctx.strokeStyle = "#8ab8ff";
  ctx.setLineDash([4, 4]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}

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
  // As Grafana does: what has a fixed edge keeps it.
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

/** Cumulative buckets as a column of cells for each time; bins that nothing ever fell into are left out at both ends. */
export function plotHeat(panel: DrawnPanel, ill: number | null, { width, height }: Size): HTMLElement {
  const buckets = panel.series
    .map((s) => ({ le: s.labels.le ?? "", edge: Number(s.labels.le?.replace("+Inf", "Infinity")), values: s.values }))
    .toSorted((a, b) => a.edge - b.edge);
  const cells = buckets.map(({ values }, i) =>
    values.map((v, t) => Math.max(0, (v ?? 0) - (buckets[i - 1]?.values[t] ?? 0))),
  );
  const filled = cells.flatMap((row, i) => (row.some((n) => n > 0) ? [i] : []));
  const first = Math.max(0, (filled[0] ?? 0) - 1);
  const last = Math.min(cells.length - 1, (filled.at(-1) ?? 0) + 1);
  const most = Math.max(1, ...cells.flat());
  const apart = last - first > 9 ? 2 : 1;
  const wide = (panel.times[1] ?? 1) - (panel.times[0] ?? 0);
  const box = document.createElement("div");
  const options: uPlotType.Options = {
    width,
    height: height - TITLE - LEGEND_LINE - 6,
    padding: [6, 18, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false, range: [0, panel.times.at(-1) ?? 1] }, y: { range: [first, last + 1] } },
    series: [{}, { show: true, stroke: "transparent", points: { show: false } }],
    axes: [
      timeAxis(),
      axis({
        size: 58,
        grid: { show: false },
        // Every other edge, where there is no room for all.
        splits: () => cells.flatMap((_, i) => (i >= first && i <= last && (last - i) % apart === 0 ? [i + 1] : [])),
        values: (_, at) => at.map((i) => buckets[i - 1]?.le ?? ""),
      }),
    ],
    hooks: {
      draw: [
        (u) => {
          for (let i = first; i <= last; i++) {
            cells[i]!.forEach((n, t) => {
              if (n === 0) return;
              // What a point counts lies before it.
              const x = u.valToPos(Math.max(0, panel.times[t]! - wide), "x", true);
              const right = u.valToPos(panel.times[t]!, "x", true);
              const [top, bottom] = [u.valToPos(i + 1, "y", true), u.valToPos(i, "y", true)];
              u.ctx.fillStyle = viridis(Math.sqrt(n / most));
              u.ctx.fillRect(x, top, Math.max(0, right - x - 1), bottom - top - 1);
            });
          }
          drawIll(u, ill);
        },
      ],
    },
  };
  const line = panel.times.map(() => first);
  new uPlot(options, [panel.times, line] as unknown as uPlotType.AlignedData, box);
  const legend = document.createElement("div");
  legend.className = "legend";
  const steps = Array.from({ length: 12 }, (_, i) => `<i style="background:${viridis(i / 11)}"></i>`).join("");
  legend.innerHTML = `<span>0</span><span class="scale">${steps}</span><span>${format(Math.round(most), "short")} a cell</span>`;
  box.append(legend);
  return box;
}

function legendOf(entries: readonly { name: string; color: string }[]): HTMLElement {
  const legend = document.createElement("div");
  legend.className = "legend";
  for (const { name, color } of entries) {
    const entry = document.createElement("span");
    const key = document.createElement("b");
    key.style.background = color;
    entry.append(key, name);
    legend.append(entry);
  }
  return legend;
}
