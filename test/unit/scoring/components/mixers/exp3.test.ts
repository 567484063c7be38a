import { describe, expect, test } from "vitest";
import { exp3, exp3Update } from "../../../../../src/scoring/components/mixers/exp3.js";
import { uniform } from "../../../../../src/scoring/mix/simplex.js";
import { mixHistory, runMixer } from "../../../../../src/testing.js";
import { expectShares } from "./close.js";

const START = { shares: uniform(3), gains: [0, 0, 0] };

describe("exp3", () => {
  test("the first updates explore only", () => {
    const first = exp3Update(START, [1, 0.5, 0], 1);
    expectShares(first.shares, uniform(3));
    expectShares(exp3Update(first, [1, 0.5, 0], 2).shares, uniform(3));
  });

  test("r = 1 .5 0 as a first update at t = 10", () => {
    expectShares(exp3Update(START, [1, 0.5, 0], 10).shares, [0.37776436, 0.32909796, 0.29313768]);
  });

  test("a reward counts by how unlikely its domain was; one not drawn gets none", () => {
    const { gains } = exp3Update({ shares: [0.5, 0.25, 0.25], gains: [1, 1, 1] }, [0.5, 0.5, undefined], 5);
    expectShares(gains, [2, 3, 1]);
  });

  test("the signal is the gap to the best domain of the update", () => {
    const gaps = mixHistory(Array.from({ length: 12 }, () => [0.2, 0.7, 1]));
    const means = mixHistory(Array.from({ length: 12 }, () => [0.8, 0.3, 0]));
    expectShares(runMixer(exp3, gaps), runMixer(exp3, means, { signal: "mean" }));
    const [worst, middle, best] = runMixer(exp3, gaps);
    expect(worst! > middle! && middle! > best!).toBe(true);
  });

  test("signals are scaled and cut to [0, 1]", () => {
    const big = mixHistory(Array.from({ length: 9 }, () => [50, -3]));
    const unit = mixHistory(Array.from({ length: 9 }, () => [1, 0]));
    expectShares(runMixer(exp3, big, { signal: "mean", scale: 10 }), runMixer(exp3, unit, { signal: "mean" }));
  });
});
