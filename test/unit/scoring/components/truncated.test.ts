import { expect, it } from "vitest";
import { truncated } from "../../../../src/scoring/components/scorers/truncated.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { batchF } from "../../../helpers/batch-f.js";

it("marks fixture F's responses of the full length", async () => {
  expect(await run(truncated, batchF(), { max_response_length: 4 })).toEqual([1, 0, 0, 1, 0, 0, 1, 0]);
  expect(await run(truncated, batchF(), { max_response_length: 5 })).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
});

it("counts tool tokens: they fill the context as well", async () => {
  const batch = fakeBatch({ response_mask: [[1, 0, 0], [1, 0], [1]] });
  expect(await run(truncated, batch, { max_response_length: 3 })).toEqual([1, 0, 0]);
});

it("cannot do without the limit", async () => {
  await expect(run(truncated, batchF())).rejects.toMatchObject({ code: "CONFIG" });
});
