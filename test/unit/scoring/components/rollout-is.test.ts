import { describe, expect, it } from "vitest";
import { rolloutIs } from "../../../../src/scoring/components/reweighters/rollout-is.js";
import { isRatio } from "../../../../src/scoring/components/scorers/is-ratio.js";
import { run } from "../../../../src/testing.js";
import { tokensOf } from "../../../helpers/act.js";
import { expectClose } from "../../../helpers/close.js";
import { batchWithTokensF, ratioF } from "../../../helpers/fixture-f-tokens.js";

const weigh = async (params: Record<string, unknown>) =>
  tokensOf(await run([isRatio, rolloutIs], batchWithTokensF(), [{}, params], { settings: { normalize: "none" } }));
const spread = (rows: number[]) => ratioF.map((row, i) => row.map(() => rows[i]!));
const expectTokens = (have: number[][], want: number[][]) => expectClose(have.flat(), want.flat());

describe("fixture F, token by token", () => {
  const truncated = [[1, 1, 2, 0.5], [2, 1, 1], [1, 2], [0.25, 1, 1, 1], [1], [0.5, 2, 1], [1, 1, 1, 1], [2, 0.4]];
  const masked = [[1, 1, 2, 0.5], [0, 1, 1], [1, 0], [0, 1, 1, 1], [1], [0.5, 2, 1], [1, 1, 1, 1], [0, 0]];

  it("truncates at 2", async () => expectTokens(await weigh({}), truncated));

  it("divides by the mean of what it truncated", async () => {
    expectTokens(
      await weigh({ batch_normalize: true }),
      truncated.map((row) => row.map((w) => w / 1.1152174)),
    );
  });

  it("masks outside .5 to 2, both in", async () => expectTokens(await weigh({ method: "mask" }), masked));
});

describe("fixture F, row by row", () => {
  it("truncates the product", async () => {
    expectTokens(await weigh({ level: "sequence" }), spread([1, 2, 2, 0.25, 1, 1, 1, 1]));
  });

  it("masks the product", async () => {
    expectTokens(await weigh({ level: "sequence", method: "mask" }), spread([1, 0, 0, 0, 1, 1, 1, 1]));
  });

  it("divides by the mean over rows", async () => {
    const mean = 9.25 / 8;
    const rows = [1, 2, 2, 0.25, 1, 1, 1, 1].map((w) => w / mean);
    expectTokens(await weigh({ level: "sequence", batch_normalize: true }), spread(rows));
  });
});

describe("fixture F, rejected", () => {
  it("seq_mean_k1 is the geometric trust region", async () => {
    const params = { level: "none", reject: "seq_mean_k1", reject_low: 0.8, reject_high: 1.25 };
    expectTokens(await weigh(params), spread([1, 0, 0, 0, 1, 1, 1, 1]));
  });

  it("token_k1 keeps ratios between the bounds' reciprocals", async () => {
    const params = { level: "none", reject: "token_k1", reject_low: 0.5, reject_high: 5 };
    const want = [[1, 1, 1, 1], [0, 1, 1], [1, 0], [1, 1, 1, 1], [1], [1, 1, 1], [1, 1, 1, 1], [0, 1]];
    expectTokens(await weigh(params), want);
  });

  it("takes 1 / high for the lower bound where none is given", async () => {
    const params = { level: "none", reject: "token_k1", reject_high: 2 };
    expectTokens(
      await weigh(params),
      ratioF.map((row) => row.map((ratio) => Number(ratio >= 0.5 && ratio <= 2))),
    );
  });

  it("seq_max_k2 drops rows with one token far off", async () => {
    const params = { level: "none", reject: "seq_max_k2", reject_high: 0.5 };
    expectTokens(await weigh(params), spread([1, 0, 0, 0, 1, 1, 1, 1]));
  });

  it("leaves the weights of what is kept alone", async () => {
    const params = { reject: "token_k2", reject_high: 0.3 };
    expectTokens(
      await weigh(params),
      ratioF.map((row) => row.map((ratio) => (Math.log(ratio) ** 2 / 2 <= 0.3 ? Math.min(ratio, 2) : 0))),
    );
  });
});

it("says which bounds contradict each other at mount", () => {
  expect(rolloutIs.rules).toContainEqual({ rule: "at_most", params: ["low", "high"] });
});

it("clips to both bounds, as OpenRLHF's tis and slime's clip do", async () => {
  const params = { method: "clip", low: 0.5, high: 2 };
  expectTokens(
    await weigh(params),
    ratioF.map((row) => row.map((ratio) => Math.min(Math.max(ratio, 0.5), 2))),
  );
});
