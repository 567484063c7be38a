/**
 * Named places at which a test kills the process, to prove that a crash there loses and doubles nothing. Inert unless
 * DFX_CRASH_AT names one of them.
 */
export const FAULT_POINTS = [
  "broker.announcement-read",
  "broker.state-read",
  "broker.job-added",
  "broker.acknowledged",
  "worker.begun",
  "worker.computed",
  "worker.settled",
] as const;
export type FaultPoint = (typeof FAULT_POINTS)[number];

const armed = process.env.DFX_CRASH_AT;

export function faultPoint(point: FaultPoint): void {
  if (armed === point) process.kill(process.pid, "SIGKILL");
}
