import { expect, test } from "vitest";
import type { Stage } from "../../src/protocol/stages.js";
import { BUILT_INS } from "../../src/scoring/components/catalogue.js";
import type { Reweighter, Selector } from "../../src/scoring/components/component-types.js";
import { createRegistry } from "../../src/scoring/components/registry.js";
import { fakeBatch, run as runPure } from "../../src/testing.js";
import { expectClose } from "../helpers/close.js";
import { REQUIRED } from "../helpers/component-variants.js";
import { fieldsWithTokensF } from "../helpers/fixture-f-tokens.js";
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
  ["reweighter", "column", "softmax"],
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
  ["reweighter", "staleness", "staleness_decay"],
  ["reweighter", "reward_difficulty", "maxrl"],
  ["reweighter", "seq_is_ratio", "vespo"],
  ["reweighter", "response_length", "length_weight"],
  ["reweighter", "difficulty", "difficulty_weight"],
  ["reweighter", "segment_is_ratio", "rollout_is"],
  ["selector", "staleness", "staleness_cutoff"],
  ["selector", "geo_is_ratio", "opsm"],
  ["selector", "prob_diff", "tv_gate"],
  ["selector", "binary_kl", "signed_gate"],
  ["selector", "is_ratio", "veto"],
  ["selector", "is_ratio", "m2po"],
  ["selector", "advantage_cov", "clip_cov"],
  ["selector", "mult_prob_error", "threshold_band"],
  ["selector", "column", "topk_fraction"],
];
/** Numbers of rows that fixture F does not have. */
const ROW_FIELDS = { policy_version: [0, 0, -1, -3, -9, -12, 0, 0], difficulty: [0, 0.1, 0.2, 0.5, 0.5, 0.8, 1, 1] };
const registry = createRegistry(BUILT_INS);

test("the list names every scorer, reweighter and selector", () => {
  const named = new Set(PAIRS.flatMap(([kind, scorer, actuator]) => [`scorer ${scorer}`, `${kind} ${actuator}`]));
  const all = (["scorer", "reweighter", "selector"] as const).flatMap((kind) =>
    registry.list(kind).map(({ name }) => `${kind} ${name}`),
  );
  expect([...named].sort()).toEqual(all.sort());
});

/** A run holds 16 pipelines at most. */
const parts = [0, 15, 30].map((from) => ({ pairs: PAIRS.slice(from, from + 15) }));

test.each(parts)(
  "fixture F comes back through the whole system as the components weigh it: $pairs.0.1 × $pairs.0.2 …",
  async ({ pairs }) => {
    const pipelines = Object.fromEntries(
      pairs.map(([kind, scorer, actuator], n) => [
        `p${n}`,
        {
          mechanism: kind === "reweighter" ? "reweight" : "select",
          scorer: { name: scorer, params: paramsOf(scorer) },
          actuator: { name: actuator, params: paramsOf(actuator, kind) },
        },
      ]),
    );
    const run = await system.mount({ pipelines });
    const fields: Readonly<Record<string, number[][] | number[] | string[]>> = {
      ...fieldsWithTokensF(),
      ...ROW_FIELDS,
    };
    for (const [stage, needs] of Object.entries(run.handle.stages) as [Stage, { name: string }[]][]) {
      const sent = Object.fromEntries(needs.map(({ name }) => [name, fields[name]!]));
      await run.put(1, stage, sent as Record<string, number[][]>);
    }
    const result = await run.weights(1);
    for (const [n, [kind, scorer, actuator]] of pairs.entries()) {
      const pair = [registry.get("scorer", scorer), registry.get(kind, actuator) as Reweighter | Selector] as const;
      const batch = fakeBatch({ ...fieldsWithTokensF(), ...ROW_FIELDS });
      const params = [paramsOf(scorer), paramsOf(actuator, kind)] as const;
      const exact = "self_normalized" in pair[1] && pair[1].self_normalized === true;
      const want = await runPure(pair, batch, params, { settings: exact ? { normalize: "none" } : {} });
      const have = result.pipelines.find(({ name }) => name === `p${n}`)!;
      expectClose(have.compact!.values, [...want.weights.values], 2e-6);
      if (want.kept) expect([...have.kept!], `${scorer} × ${actuator}`).toEqual([...want.kept]);
    }
    await run.release(1);
  },
);

/** Pairs with the numbers that a hand computes for fixture F: weights to six digits, or kept rows. */
const BY_HAND: readonly (readonly [
  kind: "reweighter" | "selector",
  scorer: [name: string, params?: object],
  actuator: [name: string, params?: object],
  want: readonly number[],
])[] = [
  ["reweighter", ["advantage_magnitude"], ["softmax"], [...four(1.004326), 0.696485, 0.696485, 0.696485, 1.89324]],
  [
    "reweighter",
    ["advantage_magnitude"],
    ["per_advantage", { alpha: 0.5 }],
    [...four(1.053244), 0.800292, 0.800292, 0.800292, 1.386147],
  ],
  ["reweighter", ["group_solve_rate"], ["grpo_lead"], [...four(1.416556), 0.95, 0.95, 0.95, 1.492638].map(meanOne)],
  [
    "reweighter",
    ["reward_difficulty"],
    ["psr_nsr", { lambda: 0.1 }],
    [1, 0, 1, 0, 1, 1, 1, 0].map((solved) => (solved ? 0.228571 : 2.285714)),
  ],
  [
    "reweighter",
    ["signed_advantage"],
    ["awr", { standardize: false }],
    [1.766725, 0.312572, 1.766725, 0.312572, 1.225198, 1.225198, 1.225198, 0.165813],
  ],
  [
    "reweighter",
    ["response_length"],
    ["delta_l", { alpha: 1 }],
    [0.585366, 0.780488, 1.170732, 0.585366, 2.341463, 0.780488, 0.585366, 1.170732],
  ],
  [
    "reweighter",
    ["token_prob"],
    ["advantage_reweight", { alpha: 0.5 }],
    [
      [1.252149, 0.988539, 0.790831, 0.922636, 1.186246, 0.724928, 1.054441, 0.988539, 0.988539, 0.823782, 1.153295],
      [0.988539, 1.318052, 0.856734, 1.054441, 1.252149, 0.856734, 0.790831, 0.922636, 1.186246, 1.054441, 1.120344],
      [0.724928],
    ].flat(),
  ],
  ["selector", ["group_solve_rate"], ["threshold_band", { low: 0.6, high: 0.8 }], [4, 5, 6, 7]],
  ["selector", ["advantage_magnitude"], ["topk_fraction", { fraction: 0.5 }], [0, 1, 2, 7]],
  ["selector", ["reward_difficulty"], ["max_variance"], [1, 2, 6, 7]],
];

test("fixture F comes back through the whole system with the numbers computed by hand", async () => {
  const block = ([kind, scorer, actuator]: (typeof BY_HAND)[number]) => ({
    mechanism: kind === "reweighter" ? "reweight" : "select",
    scorer: { name: scorer[0], params: scorer[1] ?? {} },
    actuator: { name: actuator[0], params: actuator[1] ?? {} },
  });
  const run = await system.mount({ pipelines: Object.fromEntries(BY_HAND.map((pair, n) => [`p${n}`, block(pair)])) });
  const fields: Readonly<Record<string, number[][] | string[]>> = fieldsWithTokensF();
  for (const [stage, needs] of Object.entries(run.handle.stages) as [Stage, { name: string }[]][]) {
    const sent = Object.fromEntries(needs.map(({ name }) => [name, fields[name]!]));
    await run.put(1, stage, sent as Record<string, number[][]>);
  }
  const result = await run.weights(1);
  for (const [n, [kind, scorer, actuator, want]] of BY_HAND.entries()) {
    const have = result.pipelines.find(({ name }) => name === `p${n}`)!;
    if (kind === "selector") expect([...have.kept!], `${scorer[0]} × ${actuator[0]}`).toEqual(want);
    else expectClose(have.compact!.values, want, 2e-6);
  }
});

function four(value: number): number[] {
  return [value, value, value, value];
}
function meanOne(value: number, _row: number, all: readonly number[]): number {
  return (value * all.length) / all.reduce((sum, other) => sum + other, 0);
}

function paramsOf(name: string, kind = "scorer"): Record<string, unknown> {
  if (name === "column") return { name: "difficulty" };
  // A difference of 0.1 lies on tv_gate's default bound, and log-probs travel as float32.
  if (name === "tv_gate") return { delta: 0.2 };
  // Equal ratios are so to the last bit only before they travel: none of them may be the last to stay.
  if (name === "m2po") return { threshold: 0.2 };
  return REQUIRED[`${kind} ${name}`] ?? {};
}
