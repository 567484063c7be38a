import type { StepRecord } from "../history/history-record.js";

/**
 * Steps a minute over the newest records. While a run stands still for longer than its steps take, its pace falls.
 * `now`: on Redis' clock, as the records' times.
 */
export function paceOf(newest: readonly Pick<StepRecord, "step" | "at">[], now: number): number | null {
  const first = new Map<number, number>();
  for (const record of newest) first.set(record.step, record.at);
  const times = [...first.values()];
  const steps = times.length - 1;
  const [last, earliest] = [Math.max(...times), Math.min(...times)];
  if (steps < 1 || last === earliest) return null;
  const standstill = Math.max(0, now - last - (last - earliest) / steps);
  return (steps * 60_000) / (last - earliest + standstill);
}
