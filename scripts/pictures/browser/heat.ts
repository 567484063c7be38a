import type uPlotType from "uplot";
import { format } from "./format.js";
import { viridis } from "./palette.js";
import { axis, drawIll, LEGEND_LINE, type Size, TITLE, timeAxis } from "./parts.js";
import type { DrawnPanel } from "./types.js";

/** The script puts uPlot's own file into the page before this one. */
declare const uPlot: typeof uPlotType;

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
              // A point counts what happened before it.
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
