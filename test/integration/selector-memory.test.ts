import { describe, expect, test } from "vitest";
import { rewardStep } from "../helpers/batches.js";
import { useSystem } from "../helpers/system.js";

const system = useSystem();

const block = (k_easy: number) => ({
  mechanism: "select",
  scorer: { name: "reward_difficulty" },
  actuator: { name: "gfpo_adaptive", params: { k_hardest: 4, k_hard: 4, k_medium: 4, k_easy, warmup: 2 } },
});
/** Twenty prompts of five responses; prompt g has mean reward g / 20. */
const graded = Array.from({ length: 100 }, (_, i) => Math.floor(i / 5) / 20);

describe("a selector that remembers", () => {
  test("adapts to what earlier steps told, and not before they are enough", async () => {
    const run = await system.mount(block(1));
    expect(run.handle.pipelines[0]?.remembers).toBe(true);
    const keptAt = async (step: number) => {
      await run.put(step, "post_reward", rewardStep(graded, 5));
      const kept = (await run.weights(step)).pipelines[0]!.kept!;
      await run.release(step);
      return kept.length;
    };
    expect(await keptAt(1)).toBe(80);
    expect(await keptAt(2)).toBe(80);
    // Forty group means are known now: the prompts above their third quartile keep one response each.
    expect(await keptAt(3)).toBe(15 * 4 + 5);
  });

  test("shares no memory with other runs", async () => {
    const run = await system.mount(block(2));
    await run.put(1, "post_reward", rewardStep(graded, 5));
    expect((await run.weights(1)).pipelines[0]!.kept).toHaveLength(80);
  });
});
