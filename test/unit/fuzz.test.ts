import { expect, test } from "vitest";
import { fuzz } from "../helpers/fuzz.js";

// scripts/fuzz.ts does the same with more.
test("whatever enters a process is taken or refused by a typed error, soon and in little memory", async () => {
  const { taken, refused } = await fuzz(20_000, 1);
  expect(refused).toBeGreaterThan(2_000);
  expect(taken).toBeGreaterThan(1_000);
}, 60_000);
