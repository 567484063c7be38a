import { expect, test } from "vitest";
import { runKeys } from "../../src/redis/keys.js";
import { advantageStep, softmaxWeights, worst } from "../helpers/batches.js";
import { stepKeys } from "../helpers/leaks.js";
import { useSystem } from "../helpers/system.js";

const system = useSystem({ workers: [{}] });
const STAGE = "post_advantage";

test("a step is released at its end, and what was made of it comes back", async () => {
  const run = await system.mount();
  const weights = await run.step(1, async (step) => {
    await step.put(STAGE, { ...advantageStep([1, 2]) });
    return (await step.weights()).pipelines[0]!.weights;
  });
  expect(worst(weights, softmaxWeights([1, 2]))).toBeLessThan(1e-5);
  expect(await stepKeys(system.redis, runKeys(run.handle.run).runBase)).not.toContainEqual(
    expect.stringContaining(":1.0:"),
  );
  await expect(run.put(1, STAGE, { ...advantageStep([1, 2]) })).rejects.toMatchObject({ code: "RELEASED" });
});

test("a step is released also after an error, which is the one that comes", async () => {
  const run = await system.mount();
  const lost = run.step(1, async (step) => {
    await step.put(STAGE, { ...advantageStep([1, 2]) });
    throw new RangeError("the loss is NaN");
  });
  await expect(lost).rejects.toThrow("the loss is NaN");
  await expect(run.put(1, STAGE, { ...advantageStep([1, 2]) })).rejects.toMatchObject({ code: "RELEASED" });
});

test("a step has its trigger, and is released once", async () => {
  const run = await system.mount();
  const words = await run.step(
    3,
    async (step) => {
      await step.put(STAGE, { ...advantageStep([1, 2]) });
      expect((await step.weights()).trigger).toBe(2);
      return [await step.release(), await step.release()];
    },
    { trigger: 2 },
  );
  expect(words).toEqual(["BURIED", "BURIED"]);
});
