import { describe, expect, test } from "vitest";
import { rewardGap } from "../../../../../src/scoring/components/mixers/reward-gap.js";
import { staticMixer } from "../../../../../src/scoring/components/mixers/static.js";
import { mixHistory, runMixer } from "../../../../../src/testing.js";
import { expectShares } from "./close.js";

describe("reward_gap", () => {
  test("means .9 .5 .1, defaults", () => {
    expectShares(
      runMixer(rewardGap, mixHistory([[0.9, 0.5, 0.1]]), { floor_mode: "clip" }),
      [0.21198272, 0.31624106, 0.47177622],
    );
  });

  test("two domains, temperature .1: clip undercuts the floor, mix holds it", () => {
    const history = mixHistory([[0.9, 0.1]]);
    expectShares(runMixer(rewardGap, history, { temperature: 0.1, floor_mode: "clip" }), [0.04763426, 0.95236574]);
    expectShares(runMixer(rewardGap, history, { temperature: 0.1 }), [0.05030182, 0.94969818]);
  });

  test("a domain never seen keeps its prior", () => {
    expectShares(runMixer(rewardGap, mixHistory([[0.9, 0.5, null]])), [0.27741033, 0.38925634, 1 / 3]);
  });

  test("rewards below 0 do not make an unseen domain the best", () => {
    const [, , unseen] = runMixer(rewardGap, mixHistory([[-0.9, -0.5, null]]), { floor: 0 });
    expect(unseen).toBeCloseTo(1 / 3);
  });

  test("an extreme gap overflows nothing", () => {
    expectShares(runMixer(rewardGap, mixHistory([[1e6, -1e6]]), { temperature: 1e-3 }), [0.05, 0.95]);
  });
});

describe("static", () => {
  test("2 : 1 : 1", () => {
    expectShares(
      runMixer(staticMixer, mixHistory([], { domains: ["a", "b", "c"] }), { proportions: [2, 1, 1] }),
      [0.5, 0.25, 0.25],
    );
  });

  test("without proportions: the prior", () => {
    expectShares(runMixer(staticMixer, mixHistory([], { domains: ["a", "b"], prior: [0.7, 0.3] })), [0.7, 0.3]);
  });

  test("does not care what was seen", () => {
    expectShares(runMixer(staticMixer, mixHistory([[1, null]]), { proportions: [0, 1] }), [0, 1]);
  });
});
