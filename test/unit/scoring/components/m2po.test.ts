import { describe, expect, it } from "vitest";
import { isRatio } from "../../../../src/scoring/components/scorers/is-ratio.js";
import { m2po } from "../../../../src/scoring/components/selectors/m2po.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { tokensOf } from "../../../helpers/act.js";
import { batchWithTokensF, ratioF } from "../../../helpers/fixture-f-tokens.js";

const keepF = async (threshold: number) => {
  const { lengths } = { lengths: ratioF.map((row) => row.map(() => 1)) };
  return tokensOf(await run(m2po, fakeBatch({ response_mask: lengths }), { threshold }, { scores: ratioF }));
};

describe("fixture F, mean of squared log ratios 8.651563 / 23", () => {
  it("keeps everything below the threshold", async () => {
    expect((await keepF(0.377)).flat().every((kept) => kept === 1)).toBe(true);
  });

  it("drops the later of two equal ones first", async () => {
    // without row 3's first token 6.729751 / 22 = 0.3059
    expect(await keepF(0.31)).toEqual([
      [1, 1, 1, 1],
      [1, 1, 1],
      [1, 1],
      [0, 1, 1, 1],
      [1],
      [1, 1, 1],
      [1, 1, 1, 1],
      [1, 1],
    ]);
  });

  it("drops as few as it takes", async () => {
    // 4.807939 / 21 = 0.2289, 3.600990 / 20 = 0.1800
    expect(await keepF(0.2)).toEqual([
      [1, 1, 1, 1],
      [0, 1, 1],
      [1, 0],
      [0, 1, 1, 1],
      [1],
      [1, 1, 1],
      [1, 1, 1, 1],
      [1, 1],
    ]);
  });

  it("reads the ratios that is_ratio gives", async () => {
    const { metrics } = await run([isRatio, m2po], batchWithTokensF(), [{}, { threshold: 0.2 }]);
    expect(metrics.kept_tokens).toBe(20);
  });
});

it("always keeps one token: the first of the least", async () => {
  const batch = fakeBatch({ response_mask: [[1, 1], [1]] });
  expect(tokensOf(await run(m2po, batch, { threshold: 0.01 }, { scores: [[4, 2], [2]] }))).toEqual([[0, 1], [0]]);
});

it("leaves rows that do not count out", async () => {
  const batch = fakeBatch({ response_mask: [[1], [1], [1]] }, { is_padding: [false, true, false] });
  expect(tokensOf(await run(m2po, batch, { threshold: 0.1 }, { scores: [[1], [], [4]] }))).toEqual([[1], [], [0]]);
});

it("wants a threshold: the source has it off", () => {
  expect(m2po.params.safeParse({}).success).toBe(false);
});
