import { expect, it } from "vitest";
import { advantageCov } from "../../../../src/scoring/components/scorers/advantage-cov.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { expectClose } from "../../../helpers/close.js";

const score = async (advantages: number[][], old_log_probs: number[][], response_mask?: number[][]) =>
  (
    (await run(
      advantageCov,
      fakeBatch({ advantages, old_log_probs, ...(response_mask && { response_mask }) }),
    )) as number[][]
  ).flat();

it("multiplies what advantage and log-prob have beyond their means", async () => {
  expectClose(await score([[1], [-1]], [[-1], [-3]]), [1, 1], 1e-12);
  // means over three tokens: 1/3 and −2
  expectClose(await score([[1, 1], [-1]], [[-1, -2], [-3]]), [2 / 3, 0, 4 / 3], 1e-12);
});

it("takes the means over unmasked tokens only", async () => {
  expectClose(
    await score(
      [
        [1, 9],
        [-1, 9],
      ],
      [
        [-1, 9],
        [-3, 9],
      ],
      [
        [1, 0],
        [1, 0],
      ],
    ),
    [1, 1],
    1e-12,
  );
});

it("is 0 for one token, and where all are equal", async () => {
  expect(await score([[2]], [[-3]])).toEqual([0]);
  expectClose(
    await score(
      [
        [2, 2],
        [2, 2],
      ],
      [
        [-1, -2],
        [-3, -4],
      ],
    ),
    [0, 0, 0, 0],
    1e-15,
  );
});
