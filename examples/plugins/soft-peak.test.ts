import { checkComponent, fakeBatch, run } from "dataflex-mq/testing";
import { expect, test } from "vitest";
import { softPeak } from "./soft-peak.js";

test("keeps what every component promises", () => checkComponent(softPeak));

test("lies between the mean and the maximum of the tokens that count", async () => {
  const batch = fakeBatch({ entropy: [[1, 3, 9]], response_mask: [[1, 1, 0]] });
  const [gentle] = (await run(softPeak, batch, { sharpness: 0.01 })) as number[];
  const [sharp] = (await run(softPeak, batch, { sharpness: 20 })) as number[];
  expect(gentle).toBeCloseTo(2, 1);
  expect(sharp).toBeCloseTo(3 - Math.log(2) / 20, 4);
});
