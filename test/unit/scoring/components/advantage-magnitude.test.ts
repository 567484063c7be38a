import { describe, expect, it } from "vitest";
import { advantageMagnitude } from "../../../../src/scoring/components/scorers/advantage-magnitude.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { batchF } from "../../../helpers/batch-f.js";
import { expectClose } from "../../../helpers/close.js";
import { fixtureF } from "../../../helpers/fixture-f.js";

const magnitudes = fixtureF.advantages.map(Math.abs);

describe.each(["jagged", "dense", "compact"] as const)("advantage_magnitude on fixture F, encoded %s", (encode) => {
  const batch = batchF({ encode });

  it("mean and max are the row's one magnitude", async () => {
    expectClose((await run(advantageMagnitude, batch)) as number[], magnitudes, 1e-12);
    expectClose((await run(advantageMagnitude, batch, { agg: "max" })) as number[], magnitudes, 1e-12);
  });

  it("sum counts the tokens", async () => {
    const sums = [3.464096, 2.598072, 1.732048, 3.464096, 0.499999, 1.499997, 1.999996, 2.999994];
    expectClose((await run(advantageMagnitude, batch, { agg: "sum" })) as number[], sums);
  });
});

it("skips masked tokens and takes a fully masked row as 0", async () => {
  const batch = fakeBatch(
    {
      advantages: [
        [1, -3, 9],
        [7, 7, 7],
      ],
      response_mask: [
        [1, 1, 0],
        [0, 0, 0],
      ],
    },
    { encode: "dense" },
  );
  expect(await run(advantageMagnitude, batch)).toEqual([2, 0]);
  expect(await run(advantageMagnitude, batch, { agg: "sum" })).toEqual([4, 0]);
  expect(await run(advantageMagnitude, batch, { agg: "max" })).toEqual([3, 0]);
});
