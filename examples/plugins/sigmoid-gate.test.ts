import { checkComponent, fakeBatch, run } from "dataflex-mq/testing";
import { expect, test } from "vitest";
import { sigmoidGate } from "./sigmoid-gate.js";

test("keeps what every component promises", () => checkComponent(sigmoidGate));

test("weighs by score, and the pipeline brings the mean to 1", async () => {
  const batch = fakeBatch({ advantages: [[0], [0], [0]] });
  const scores = [-1000, 0, 1000];
  const { weights } = await run(sigmoidGate, batch, {}, { scores });
  expect([...weights.values]).toEqual([0, 1, 2]);
  const raw = await run(sigmoidGate, batch, {}, { scores, settings: { normalize: "none" } });
  expect([...raw.weights.values]).toEqual([0, 0.5, 1]);
  const far = await run(sigmoidGate, batch, {}, { scores: [-2000, -2000, -3000] });
  expect([...far.weights.values]).toEqual([1.5, 1.5, 0]);
});
