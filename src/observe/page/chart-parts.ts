import type uPlot from "./vendor/uplot.js";

/** A colour of the page in the current theme. */
export const color = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Changes with the theme, so that charts are drawn anew. */
export const theme = (): string => color("--ink");

export function axis(more: Partial<uPlot.Axis>): uPlot.Axis {
  const font = "11px system-ui, sans-serif";
  return {
    stroke: color("--muted"),
    font,
    grid: { stroke: color("--line"), width: 1 },
    ticks: { show: false },
    size: 28,
    gap: 6,
    ...more,
  };
}

/** The range of the numbers with some padding, or a fixed bound; without numbers 0 to 1. */
export function padded(
  low: number,
  high: number,
  fixed: readonly [number | null, number | null] | undefined,
): [number, number] {
  const [least, most] = fixed ?? [null, null];
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [least ?? 0, most ?? 1];
  const pad = high > low ? (high - low) * 0.08 : Math.abs(high) * 0.1 || 1;
  return [least ?? low - pad, most ?? high + pad];
}

export function drawLimit(u: uPlot, limit: number): void {
  const y = Math.round(u.valToPos(limit, "y", true));
  const { left, width } = u.bbox;
  u.ctx.save();
  u.ctx.strokeStyle = color("--bad");
  u.ctx.globalAlpha = 0.6;
  u.ctx.setLineDash([2, 4]);
  u.ctx.beginPath();
  u.ctx.moveTo(left, y);
  u.ctx.lineTo(left + width, y);
  u.ctx.stroke();
  u.ctx.restore();
}

/** A dashed line with a diamond on top, at each step where the setup changed. */
export function drawChanges(u: uPlot, steps: readonly number[]): void {
  const { top, height } = u.bbox;
  const size = 5 * devicePixelRatio;
  u.ctx.save();
  u.ctx.strokeStyle = color("--change");
  u.ctx.fillStyle = color("--change");
  u.ctx.lineWidth = devicePixelRatio;
  for (const step of steps) {
    const x = Math.round(u.valToPos(step, "x", true));
    u.ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    u.ctx.beginPath();
    u.ctx.moveTo(x, top);
    u.ctx.lineTo(x, top + height);
    u.ctx.stroke();
    u.ctx.beginPath();
    u.ctx.moveTo(x, top - size);
    u.ctx.lineTo(x + size, top);
    u.ctx.lineTo(x, top + size);
    u.ctx.lineTo(x - size, top);
    u.ctx.fill();
  }
  u.ctx.restore();
}
