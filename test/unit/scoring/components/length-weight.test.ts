import { it } from "vitest";
import { lengthWeight } from "../../../../src/scoring/components/reweighters/length-weight.js";
import { responseLength } from "../../../../src/scoring/components/scorers/response-length.js";
import { run } from "../../../../src/testing.js";
import { rowWeights } from "../../../helpers/act.js";
import { batchF } from "../../../helpers/batch-f.js";
import { expectClose } from "../../../helpers/close.js";

it("falls from 1.5 at the shortest to 0.5 at the longest", async () => {
  expectClose(await rowWeights(lengthWeight, [10, 20, 30], { normalize: "none" }), [1.5, 1, 0.5]);
});

it("has mean one over fixture F's rows", async () => {
  const { weights } = await run([responseLength, lengthWeight], batchF());
  const raw = [4, 3, 2, 4, 1, 3, 4, 2].map((length) => 1.5 - (length - 1) / 3);
  const mean = raw.reduce((a, b) => a + b, 0) / 8;
  expectClose(
    weights.values,
    raw.map((weight) => weight / mean),
  );
});

it("weighs one row, or equal ones, 1", async () => {
  expectClose(await rowWeights(lengthWeight, [7]), [1]);
  expectClose(await rowWeights(lengthWeight, [7, 7, 7]), [1, 1, 1]);
});
