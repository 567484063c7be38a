import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { VitalSigns } from "../../../src/worker/vitals.js";

let now: number;
let vitals: VitalSigns;
beforeEach(() => {
  vi.useFakeTimers();
  now = 1_000;
  vitals = new VitalSigns(() => now);
});
afterEach(() => {
  vitals.stop();
  vi.useRealTimers();
});

/** Time passes; timers run as far as the main thread lets them. */
function pass(ms: number, standstill = false): void {
  for (let left = ms; left > 0; left -= 50) {
    now += Math.min(50, left);
    if (!standstill) vi.advanceTimersByTime(Math.min(50, left));
  }
}

test("jobs count for a minute, and the last one's age goes on", () => {
  expect(vitals.take()).toMatchObject({ jobs_last_minute: 0, idle_ms: null });
  vitals.jobEnded();
  pass(59_000);
  vitals.jobEnded();
  expect(vitals.take()).toMatchObject({ jobs_last_minute: 2, idle_ms: 0 });
  pass(2_000);
  expect(vitals.take()).toMatchObject({ jobs_last_minute: 1, idle_ms: 2_000 });
  pass(3_600_000);
  expect(vitals.take()).toMatchObject({ jobs_last_minute: 0, idle_ms: 3_602_000 });
});

test("the loop's lag is the longest standstill since the last look, whoever runs first after it, and is forgotten then", () => {
  pass(3_000);
  expect(vitals.take().loop_lag_ms).toBe(0);
  pass(4_000, true);
  expect(vitals.take().loop_lag_ms).toBe(3_900);
  pass(1_000);
  pass(700, true);
  pass(2_000);
  expect(vitals.take().loop_lag_ms).toBeGreaterThanOrEqual(600);
  pass(3_000);
  expect(vitals.take().loop_lag_ms).toBe(0);
});
