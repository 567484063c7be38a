import type { Run } from "dataflex-mq";
import { describe, expect, test } from "vitest";
import { runKeys } from "../../src/redis/keys.js";
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

/** Forty group means are known: the prompts above their third quartile keep one response each. */
const ADAPTED = 15 * 4 + 5;

async function keptAt(run: Run, step: number): Promise<number> {
  await run.put(step, "post_reward", rewardStep(graded, 5));
  const kept = (await run.weights(step)).pipelines[0]!.kept!;
  await run.release(step);
  return kept.length;
}

describe("a selector that remembers", () => {
  test("adapts to what earlier steps showed, and not before they are enough", async () => {
    const run = await system.mount(block(1));
    expect(run.handle.pipelines[0]?.remembers).toBe(true);
    expect(await keptAt(run, 1)).toBe(80);
    expect(await keptAt(run, 2)).toBe(80);
    expect(await keptAt(run, 3)).toBe(ADAPTED);
  });

  test("its memory goes into a checkpoint and back", async () => {
    const run = await system.mount(block(1), { run_id: "selector-checkpoint" });
    expect(await keptAt(run, 1)).toBe(80);
    expect(await keptAt(run, 2)).toBe(80);
    const saved = JSON.parse(JSON.stringify(await run.mixState("main")));
    expect(saved).toMatchObject({ v: 1, pipeline: "main" });
    expect(Object.keys(saved.steps).sort()).toEqual(["1.0", "2.0"]);
    expect(saved.steps["1.0"].values[0]).toHaveLength(1 + 20);
    await run.close();

    await system.redis.raw.del(runKeys("selector-checkpoint").state("main"));
    const again = await system.mount(block(1), { run_id: "selector-checkpoint" });
    await again.restoreMixState("main", saved);
    expect(await again.mixState("main")).toEqual(saved);
    expect(await keptAt(again, 3)).toBe(ADAPTED);
  });

  test("shares no memory with other runs", async () => {
    const run = await system.mount(block(2));
    await run.put(1, "post_reward", rewardStep(graded, 5));
    expect((await run.weights(1)).pipelines[0]!.kept).toHaveLength(80);
  });
});
