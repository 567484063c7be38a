import { checkComponent, fakeBatch, run } from "dataflex-mq/testing";
import { expect, test } from "vitest";
import { meanSurprise } from "./mean-surprise.js";

test("keeps what every component promises", () => checkComponent(meanSurprise, { params: { power: 2 } }));

test("averages over the tokens that count", async () => {
  const batch = fakeBatch({
    old_log_probs: [
      [-1, -3, -100],
      [-2, -2, -2],
    ],
    response_mask: [
      [1, 1, 0],
      [1, 1, 1],
    ],
  });
  expect(await run(meanSurprise, batch)).toEqual([2, 2]);
  expect(await run(meanSurprise, batch, { power: 3 })).toEqual([8, 8]);
});
