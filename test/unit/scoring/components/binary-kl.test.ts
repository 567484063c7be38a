import { expect, it } from "vitest";
import { binaryKl } from "../../../../src/scoring/components/scorers/binary-kl.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { expectClose } from "../../../helpers/close.js";

const score = async (policy: number[], engine: number[]) => {
  const batch = fakeBatch({ old_log_probs: [policy.map(Math.log)], rollout_log_probs: [engine.map(Math.log)] });
  return ((await run(binaryKl, batch)) as number[][])[0]!;
};

it("is negative where the token became less likely", async () => {
  // 0.5 ln 2 + 0.5 ln(0.5 / 0.75), and 0.25 ln 0.5 + 0.75 ln(0.75 / 0.5)
  expectClose(await score([0.25, 0.5], [0.5, 0.25]), [-0.143841, 0.130812], 1e-6);
});

it("is 0 for equal probabilities, 0 and 1 among them", async () => {
  expectClose(await score([0.3, 1], [0.3, 1]), [0, 0], 1e-15);
});

it("stays finite where one of the two is certain, or above it by rounding", async () => {
  const batch = fakeBatch({ old_log_probs: [[1e-3, -1]], rollout_log_probs: [[-1, 1e-3]] });
  const [scores] = (await run(binaryKl, batch)) as number[][];
  expect(scores!.every(Number.isFinite)).toBe(true);
  // e^-1 (−1 − 0.001) + (1 − e^-1) ln((1 − e^-1 + 1e-8) / 1e-8), and e^0.001 · 1.001 with nothing in the rest
  expectClose(scores!, [10.985811, -1.002002], 1e-5);
});
