import { describe, test } from "vitest";
import { plr, plrShares } from "../../../../../src/scoring/components/mixers/plr.js";
import { mixHistory, runMixer } from "../../../../../src/testing.js";
import { expectShares } from "./close.js";

describe("plr", () => {
  test.each([
    [0.1, [0.89910674, 0.0175447, 0.08334856]],
    [1, [0.49090909, 0.26212121, 0.2469697]],
  ])("scores .9 .5 .1, staleness 0 1 5, beta %d", (beta, shares) => {
    expectShares(plrShares([0.9, 0.5, 0.1], [0, 1, 5], beta, 0.1), shares);
  });

  test("nothing stale: the staleness part is uniform", () => {
    expectShares(plrShares([1, 0], [0, 0], 1, 1), [0.5, 0.5]);
  });

  test("equal scores: the earlier domain ranks first", () => {
    expectShares(plrShares([0.5, 0.5], [0, 0], 1, 0), [2 / 3, 1 / 3]);
  });

  test("scores that differ by rounding only are equal", () => {
    expectShares(plrShares([0.3, 0.1 + 0.2], [0, 0], 1, 0), [2 / 3, 1 / 3]);
  });

  test("staleness is counted in steps since the domain had rows", () => {
    const history = mixHistory([
      [0.9, 0.5, 0.1],
      [0.9, 0.5, null],
      [0.9, null, null],
    ]);
    expectShares(runMixer(plr, history, { rho: 1 }), [0, 1 / 3, 2 / 3]);
  });
});
