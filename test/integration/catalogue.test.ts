import { expect, test } from "vitest";
import { BUILT_INS } from "../../src/components/catalogue.js";
import { createRegistry } from "../../src/components/registry.js";
import type { Reweighter, Selector } from "../../src/components/types.js";
import type { Stage } from "../../src/protocol/stages.js";
import { run as runPure } from "../../src/testing.js";
import { expectClose } from "../helpers/close.js";
import { REQUIRED } from "../helpers/component-variants.js";
import { batchWithTokensF, fieldsWithTokensF } from "../helpers/fixture-f-tokens.js";
import { useSystem } from "../helpers/system.js";

const system = useSystem();

/** Every scorer and every actuator at least once. */
const PAIRS: readonly (readonly [kind: "reweighter" | "selector", scorer: string, actuator: string])[] = [
  ["reweighter", "advantage_magnitude", "softmax"],
  ["reweighter", "advantage_magnitude", "per_advantage"],
  ["reweighter", "group_mean_reward", "difficulty_band"],
  ["reweighter", "token_prob", "advantage_reweight"],
  ["reweighter", "signed_advantage", "awr"],
  ["reweighter", "reward_difficulty", "raft"],
  ["reweighter", "reward_difficulty", "pf_ppo"],
  ["reweighter", "reward_difficulty", "psr_nsr"],
  ["reweighter", "group_solve_rate", "grpo_lead"],
  ["reweighter", "group_solve_rate", "odsw"],
  ["reweighter", "response_length", "delta_l"],
  ["reweighter", "truncated", "overlong_filter"],
  ["reweighter", "token_entropy", "entropy_topk"],
  ["reweighter", "token_entropy", "gtpo"],
  ["reweighter", "is_ratio", "rollout_is"],
  ["reweighter", "seq_is_ratio", "softmax"],
  ["reweighter", "geo_is_ratio", "softmax"],
  ["reweighter", "group_reward_variance", "softmax"],
  ["reweighter", "ref_kl", "advantage_reweight"],
  ["selector", "learnability", "threshold_band"],
  ["selector", "seq_entropy", "topk_fraction"],
  ["selector", "length_efficiency", "topk_fraction"],
  ["selector", "reward_difficulty", "gfpo"],
  ["selector", "reward_difficulty", "gfpo_adaptive"],
  ["selector", "reward_difficulty", "max_variance"],
  ["selector", "group_solve_rate", "difficulty_filter"],
  ["selector", "reward_difficulty", "dapo_filter"],
  ["selector", "reward_difficulty", "best_and_worst"],
  ["selector", "signed_advantage", "advantage_gate"],
  ["selector", "token_entropy", "entropy_topk"],
];
const registry = createRegistry(BUILT_INS);

test("the list names every scorer, reweighter and selector", () => {
  const named = new Set(PAIRS.flatMap(([kind, scorer, actuator]) => [`scorer ${scorer}`, `${kind} ${actuator}`]));
  const all = (["scorer", "reweighter", "selector"] as const).flatMap((kind) =>
    registry.list(kind).map(({ name }) => `${kind} ${name}`),
  );
  expect([...named].sort()).toEqual(all.sort());
});

/** A run holds 16 pipelines at most. */
const halves = [{ pairs: PAIRS.slice(0, 15) }, { pairs: PAIRS.slice(15) }];

test.each(halves)(
  "fixture F comes back through the whole system as the components weigh it: $pairs.0.1 × $pairs.0.2 …",
  async ({ pairs }) => {
    const pipelines = Object.fromEntries(
      pairs.map(([kind, scorer, actuator], n) => [
        `p${n}`,
        {
          mechanism: kind === "reweighter" ? "reweight" : "select",
          scorer: { name: scorer, params: paramsOf(scorer) },
          actuator: { name: actuator },
        },
      ]),
    );
    const run = await system.mount({ pipelines });
    const fields: Readonly<Record<string, number[][] | string[]>> = fieldsWithTokensF();
    for (const [stage, needs] of Object.entries(run.handle.stages) as [Stage, { name: string }[]][]) {
      const sent = Object.fromEntries(needs.map(({ name }) => [name, fields[name]!]));
      await run.put(1, stage, sent as Record<string, number[][]>);
    }
    const result = await run.weights(1);
    for (const [n, [kind, scorer, actuator]] of pairs.entries()) {
      const pair = [registry.get("scorer", scorer), registry.get(kind, actuator) as Reweighter | Selector] as const;
      const want = await runPure(pair, batchWithTokensF(), [paramsOf(scorer)]);
      const have = result.pipelines.find(({ name }) => name === `p${n}`)!;
      expectClose(have.compact!.values, [...want.weights.values], 2e-6);
      if (want.kept) expect([...have.kept!], `${scorer} × ${actuator}`).toEqual([...want.kept]);
    }
    await run.release(1);
  },
);

function paramsOf(scorer: string): Record<string, unknown> {
  return REQUIRED[`scorer ${scorer}`] ?? {};
}
