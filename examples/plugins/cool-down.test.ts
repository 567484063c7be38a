import { checkComponent, runPolicy } from "dataflex-mq/testing";
import { expect, test } from "vitest";
import { coolDown } from "./cool-down.js";

test("keeps what every component promises", () => checkComponent(coolDown));

test("lets a prompt rest for as many steps as it is told", async () => {
  // Steps 1 to 3; the choice is for step 4.
  const fed = [["a"], ["b"], ["c"]].map((dataset_key) => ({ dataset_key }));
  const keptAfter = async (steps: number) => [
    ...(await runPolicy(coolDown, fed, { dataset_key: ["a", "b", "c", "new"] }, { steps })).kept,
  ];
  expect(await keptAfter(1)).toEqual([0, 1, 3]);
  expect(await keptAfter(2)).toEqual([0, 3]);
  expect(await keptAfter(3)).toEqual([3]);
});

test("keeps everything rather than nothing", async () => {
  const { kept } = await runPolicy(coolDown, [{ dataset_key: ["a"] }], { dataset_key: ["a"] });
  expect([...kept]).toEqual([0]);
});
