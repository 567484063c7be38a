import { expect, it } from "vitest";
import type { PipelineResult } from "../../../src/client/outcomes.js";
import { StepResult } from "../../../src/client/step-result.js";
import { stepScale } from "../../../src/client/step-scale.js";
import { DEFAULT_LIMITS } from "../../../src/columns/limits.js";
import type { MaskColumn } from "../../../src/columns/tensor.js";
import { DataflexError } from "../../../src/errors.js";
import type { Handle } from "../../../src/protocol/messages.js";

const handle = { composition: { combine: "multiply", rescale: "none" }, limits: DEFAULT_LIMITS } as Handle;
const mask = {
  kind: "lengths",
  dtype: "u8",
  scope: "response",
  rows: 4,
  width: 1,
  lengths: Int32Array.of(1, 1, 1, 1),
} as MaskColumn;

function resultOf(weights: Readonly<Record<string, readonly number[]>>, neutral?: DataflexError): StepResult {
  const parts = Object.entries(weights).map(([name, values]) => {
    const [sum, squares] = [values.reduce((a, b) => a + b, 0), values.reduce((a, b) => a + b * b, 0)];
    const stats = { ess_ratio: squares === 0 ? 0 : sum ** 2 / (4 * squares) };
    const compact = { kind: "row", values: Float32Array.from(values) };
    return { name, stage: "post_advantage", mask, compact, stats } as unknown as PipelineResult;
  });
  return new StepResult(handle, { step: 1, trigger: 0, waitedMs: 0 }, parts, neutral);
}

it("is the root of the effective share of the composed weights", () => {
  // (1 + 1 + 1 + 3)^2 / (4 * 12) = 0.75
  expect(stepScale(resultOf({ is: [1, 1, 1, 3] }))).toBeCloseTo(Math.sqrt(0.75), 9);
  expect(stepScale(resultOf({ is: [1, 1, 1, 3], keep: [1, 1, 0, 0] }))).toBeCloseTo(Math.sqrt(0.5), 9);
  expect(stepScale(resultOf({ is: [2, 2, 2, 2] }))).toBe(1);
  expect(stepScale(resultOf({ keep: [0, 0, 0, 0] }))).toBe(0);
});

it("is that of one pipeline where one is named", () => {
  const result = resultOf({ is: [1, 1, 1, 3], keep: [1, 1, 0, 0] });
  expect(stepScale(result, "is")).toBeCloseTo(Math.sqrt(0.75), 9);
  expect(stepScale(result, "keep")).toBeCloseTo(Math.sqrt(0.5), 9);
  expect(() => stepScale(result, "si")).toThrow(/no delivered pipeline is called "si"; delivered: is, keep/);
});

it("changes nothing where nothing weighs the loss", () => {
  expect(stepScale(resultOf({}))).toBe(1);
  const away = new DataflexError("TIMEOUT", "no weights", {});
  expect([stepScale(resultOf({}, away)), stepScale(resultOf({}, away), "is")]).toEqual([1, 1]);
});
