import { expect, it } from "vitest";
import { softmax } from "../../../../src/scoring/components/reweighters/softmax.js";
import { advantageMagnitude } from "../../../../src/scoring/components/scorers/advantage-magnitude.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { batchF } from "../../../helpers/batch-f.js";
import { expectClose } from "../../../helpers/close.js";

const rows = (n: number) => fakeBatch({ advantages: Array.from({ length: n }, () => [0]) });
const weigh = async (scores: number[], params = {}, settings = {}) =>
  (await run(softmax, rows(scores.length), params, { scores, settings })).weights.values;

const logs = [1, 2, 3, 4].map(Math.log);

it("is mean one, whatever the temperature", async () => {
  expectClose(await weigh(logs), [0.4, 0.8, 1.2, 1.6]);
  expectClose(await weigh(logs, { temperature: 0.5 }), [0.133333, 0.533333, 1.2, 2.133333]);
  expectClose(await weigh(logs, { temperature: 2 }), [0.650802, 0.920373, 1.127222, 1.301604]);
});

it("is mean one even without a normaliser", async () => {
  expectClose(await weigh(logs, {}, { normalize: "none" }), [0.4, 0.8, 1.2, 1.6]);
});

it("gives fixture F's numbers by row and by token", async () => {
  const byRow = await run([advantageMagnitude, softmax], batchF());
  expectClose(byRow.weights.values, [1.004326, 1.004326, 1.004326, 1.004326, 0.696485, 0.696485, 0.696485, 1.89324]);
  const byToken = await run([advantageMagnitude, softmax], batchF(), [], { settings: { normalize: "token" } });
  expectClose(byToken.weights.values, [1.030556, 1.030556, 1.030556, 1.030556, 0.714676, 0.714676, 0.714676, 1.942686]);
});

it("does not overflow, is 1 for equal scores and for one row", async () => {
  expectClose(await weigh([1000, 1000, -1000]), [1.5, 1.5, 0]);
  expectClose(await weigh([7, 7, 7]), [1, 1, 1]);
  expectClose(await weigh([-3]), [1]);
});

it("refuses a temperature that is not above 0", () => {
  expect(softmax.params.safeParse({ temperature: 0 }).success).toBe(false);
  expect(softmax.params.safeParse({ temperature: -1 }).success).toBe(false);
});
