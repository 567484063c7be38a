import { checkComponent, fakeBatch, run } from "dataflex-mq/testing";
import { expect, test } from "vitest";
import { aboveGroupMean } from "./above-group-mean.js";

test("keeps what every component promises", () => checkComponent(aboveGroupMean));

test("compares each response with those of its own prompt", async () => {
  const batch = fakeBatch({ advantages: [[0], [0], [0], [0]], uid: ["a", "a", "b", "b"] });
  const { kept } = await run(aboveGroupMean, batch, {}, { scores: [1, 2, 30, 20] });
  expect([...kept!]).toEqual([1, 2]);
  const strict = await run(aboveGroupMean, batch, { margin: 1 }, { scores: [1, 2, 30, 20] });
  expect([...strict.kept!]).toEqual([2]);
});
