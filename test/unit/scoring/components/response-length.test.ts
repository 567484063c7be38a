import { expect, it } from "vitest";
import { responseLength } from "../../../../src/scoring/components/scorers/response-length.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { batchF } from "../../../helpers/batch-f.js";
import { fixtureF } from "../../../helpers/fixture-f.js";

it("counts fixture F's tokens", async () => {
  expect(await run(responseLength, batchF())).toEqual(fixtureF.lengths);
});

it("counts tool tokens only when asked", async () => {
  const batch = fakeBatch({ response_mask: [[1, 0, 1, 0]] });
  expect(await run(responseLength, batch)).toEqual([2]);
  expect(await run(responseLength, batch, { count: "response" })).toEqual([4]);
});
