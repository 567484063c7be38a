import type uPlotType from "uplot";
import { clock } from "./format.js";

const FONT = "11px Inter, system-ui, sans-serif";
export const LEGEND_LINE = 18;
export const TITLE = 30;

export interface Size {
  readonly width: number;
  readonly height: number;
}

export const axis = (more: uPlotType.Axis): uPlotType.Axis => ({
  stroke: "#9fa7b3",
  font: FONT,
  grid: { stroke: "rgba(204,204,220,.09)", width: 1 },
  ticks: { show: false },
  gap: 6,
  ...more,
});
export const timeAxis = () => axis({ size: 26, incrs: [30, 60, 120], space: 60, values: (_, at) => at.map(clock) });

/** A line that all charts of a picture have: when the illness began. */
export function drawIll(u: uPlotType, ill: number | null): void {
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

export function legendOf(entries: readonly { name: string; color: string }[]): HTMLElement {
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
