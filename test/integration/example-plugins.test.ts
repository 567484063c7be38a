import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { aboveGroupMean } from "../../examples/plugins/above-group-mean.js";
import { meanSurprise } from "../../examples/plugins/mean-surprise.js";
import { sigmoidGate } from "../../examples/plugins/sigmoid-gate.js";
import { softPeak } from "../../examples/plugins/soft-peak.js";
import type { Stage } from "../../src/protocol/stages.js";
import { runKeys } from "../../src/redis/keys.js";
import { run as runPure } from "../../src/testing.js";
import { expectClose } from "../helpers/close.js";
import { domainStep, mixBlock } from "../helpers/domains.js";
import { eventually } from "../helpers/eventually.js";
import { batchWithTokensF, fieldsWithTokensF } from "../helpers/fixture-f-tokens.js";
import { useSystem } from "../helpers/system.js";

const folder = fileURLToPath(new URL("../../examples/plugins/", import.meta.url));
const plugins = readdirSync(folder)
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
  .map((name) => `${folder}${name}`);
const system = useSystem({ workers: [{ plugins }] });

test("scorers, reweighter and selector give through the whole system what they give alone", async () => {
  const pairs = [
    [meanSurprise, sigmoidGate],
    [softPeak, sigmoidGate],
    [meanSurprise, aboveGroupMean],
  ] as const;
  const blocks = pairs.map(([scorer, actuator], n) => [
    `p${n}`,
    {
      mechanism: actuator.kind === "reweighter" ? "reweight" : "select",
      scorer: { name: scorer.name },
      actuator: { name: actuator.name },
    },
  ]);
  const run = await system.mount({ pipelines: Object.fromEntries(blocks) });
  const fields: Readonly<Record<string, number[][] | string[]>> = fieldsWithTokensF();
  for (const [stage, needs] of Object.entries(run.handle.stages) as [Stage, { name: string }[]][]) {
    await run.put(1, stage, Object.fromEntries(needs.map(({ name }) => [name, fields[name]!])) as never);
  }
  const { pipelines } = await run.weights(1, { timeoutMs: 20_000 });
  for (const [n, [scorer, actuator]] of pairs.entries()) {
    const want = await runPure([scorer, actuator], batchWithTokensF());
    const have = pipelines.find(({ name }) => name === `p${n}`)!;
    expectClose(have.compact!.values, [...want.weights.values], 2e-6);
    if (want.kept) expect([...have.kept!]).toEqual([...want.kept]);
  }
});

test("the mixer gives shares by the rows seen", async () => {
  const run = await system.mount(mixBlock("least_seen"));
  await run.put(1, "post_reward", domainStep({ math: [1, 0, 1], code: [0] }));
  const [p] = (await run.weights(1, { timeoutMs: 20_000 })).pipelines;
  // 1 / (1 + 3) and 1 / (1 + 1), of their sum.
  expectClose(Object.values(p!.proportions!), [1 / 3, 2 / 3]);
});

test("the policy leaves out the prompts of the step before", async () => {
  const run = await system.mount({ mechanism: "select", actuator: { name: "cool_down", params: { steps: 1 } } });
  const kept = async (step: number, dataset_key: string[]): Promise<number[]> => {
    await run.put(step, "pre_rollout", { dataset_key });
    const result = await run.weights(step, { stages: ["pre_rollout"], timeoutMs: 20_000 });
    return [...result.pipelines[0]!.kept!];
  };
  expect(await kept(1, ["a", "b"])).toEqual([0, 1]);
  await run.put(1, "post_reward", { dataset_key: ["a", "a"] });
  const feed = run.handle.pipelines.find(({ policy }) => policy?.role === "feed")!;
  const { status } = runKeys(run.handle.run).step(run.handle.incarnation, "1.0");
  await eventually(() => system.redis.raw.hexists(status, `settled:${feed.name}`), { what: "the feed" });
  expect(await kept(2, ["a", "b"])).toEqual([1]);
});
