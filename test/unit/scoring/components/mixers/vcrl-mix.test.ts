import { expect, test } from "vitest";
import { vcrlMix } from "../../../../../src/scoring/components/mixers/vcrl-mix.js";
import { mixHistory, runMixer } from "../../../../../src/testing.js";
import { expectShares } from "./close.js";

test("vcrl_mix: variances 1 .75", () => {
  const share = 1 / (1 + Math.exp(-0.25));
  expectShares(runMixer(vcrlMix, mixHistory([[1, 0.75]]), { floor: 0 }), [share, 1 - share]);
  expect(vcrlMix.default_scorer).toBe("group_reward_variance");
});
