import { expect, test } from "vitest";
import type { PipelineResult } from "../../../src/client/outcomes.js";
import { StepResult } from "../../../src/client/step-result.js";
import { DEFAULT_LIMITS } from "../../../src/columns/limits.js";
import type { MaskColumn } from "../../../src/columns/tensor.js";
import type { Handle } from "../../../src/protocol/messages.js";

const handle = { composition: { combine: "multiply", rescale: "none", clip: [0, 2] }, limits: DEFAULT_LIMITS };
const mask: MaskColumn = {
  kind: "lengths",
  dtype: "u8",
  scope: "response",
  rows: 4,
  width: 3,
  lengths: Int32Array.of(3, 2, 0, 1),
};
const weighing = {
  name: "main",
  stage: "post_advantage",
  mask,
  compact: { kind: "row", values: Float32Array.of(0, 1, 1, 3) },
  stats: { n: 3, mean: 4 / 3, std: 1, min: 0, max: 3, ess_ratio: 0.5, kept_ratio: 2 / 3, zero_ratio: 1 / 3 },
  metrics: { groups: 2 },
};
const mixing = { name: "mix", stage: "post_reward", proportions: { math: 0.75, code: 0.25 }, metrics: {} };
const resultOf = (...results: object[]): StepResult =>
  new StepResult(
    handle as never as Handle,
    { step: 1, trigger: 0, waitedMs: 250 },
    results as never as PipelineResult[],
  );

test("one flat record: the wait, what the loss takes, each pipeline's own", () => {
  const found = resultOf(weighing, mixing).metrics("df");
  expect(found).toMatchObject({
    "df/wait_s": 0.25,
    "df/neutral": 0,
    "df/loss/mean": 1,
    "df/loss/max": 2,
    "df/loss/clipped_high": 1 / 3,
    "df/main/mean": 4 / 3,
    "df/main/groups": 2,
    "df/mix/share/math": 0.75,
  });
  expect(Object.values(found).every((value) => typeof value === "number")).toBe(true);
});

test("fields are cut to the rows that weigh: live, and above 0 in what the loss takes", () => {
  const result = resultOf(weighing);
  expect([...result.keptRows!]).toEqual([1, 3]);
  const cut = result.keep({ ids: ["a", "b", "c", "d"], values: Float32Array.of(1, 2, 3, 4) });
  expect([cut.ids, [...cut.values]]).toEqual([
    ["b", "d"],
    [2, 4],
  ]);
  expect(() => result.keep({ ids: ["a"] })).toThrow('field "ids" has 1 entries, and the step 4 rows');
});

test("where nothing weighs the loss every row stays", () => {
  const fields = { ids: ["a", "b"] };
  expect(resultOf(mixing).keep(fields)).toEqual(fields);
  expect(resultOf(mixing).metrics()).toEqual({
    "dataflex/wait_s": 0.25,
    "dataflex/neutral": 0,
    "dataflex/mix/share/math": 0.75,
    "dataflex/mix/share/code": 0.25,
  });
});
