import { expect, test } from "vitest";
import { mixBlock } from "../helpers/domains.js";
import { replays } from "../helpers/replays.js";

const replay = replays();
const STEP = {
  step: 3,
  fields: { rm_scores: [[1], [0], [1], [0.5]], response_mask: [[1], [1], [1], [1]] },
  domain: ["math", "math", "code", "code"],
};

test("a recorded step gives its shares, whatever the dataset calls the domain column", async () => {
  const code = 1 / (1 + Math.exp(0.25));
  for (const more of [{}, { domain_key: "data_source" }]) {
    const { pipelines, combined } = await replay.answer(STEP, mixBlock("reward_gap", more, { floor: 0 }));
    const { proportions } = pipelines[0] as unknown as { proportions: Record<string, number> };
    expect(proportions.math).toBeCloseTo(1 - code, 7);
    expect(proportions.code).toBeCloseTo(code, 7);
    expect(combined).toEqual([]);
  }
});
