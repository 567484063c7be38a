import { describe, expect, test } from "vitest";
import { linearSchedule } from "../../../../../src/scoring/components/mixers/linear-schedule.js";
import { mixHistory, runMixer } from "../../../../../src/testing.js";
import { expectShares } from "./close.js";

const NOTHING = mixHistory([], { domains: ["easy", "hard"], prior: [0.9, 0.1] });
const params = { start: [2, 0], end: [0, 5], begin_step: 10, end_step: 20 };

describe("linear_schedule", () => {
  test.each([
    [0, [1, 0]],
    [10, [1, 0]],
    [13, [0.7, 0.3]],
    [20, [0, 1]],
    [99, [0, 1]],
  ])("step %i", (step, shares) => {
    expectShares(runMixer(linearSchedule, NOTHING, params, step), shares);
  });

  test("without start it begins at the prior", () => {
    expectShares(runMixer(linearSchedule, NOTHING, { end: [1, 1], end_step: 2 }, 1), [0.7, 0.3]);
  });

  test("where it ends must be said", () => {
    expect(linearSchedule.params.safeParse({}).success).toBe(false);
  });
});
