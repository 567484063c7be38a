import { DataflexError, type Run } from "dataflex-mq";
import { beforeAll, expect, test } from "vitest";
import { dads } from "../../src/scoring/components/mixers/dads.js";
import { doremi } from "../../src/scoring/components/mixers/doremi.js";
import { dumpUcb } from "../../src/scoring/components/mixers/dump-ucb.js";
import { exp3 } from "../../src/scoring/components/mixers/exp3.js";
import { linearSchedule } from "../../src/scoring/components/mixers/linear-schedule.js";
import { plr } from "../../src/scoring/components/mixers/plr.js";
import { rewardGap } from "../../src/scoring/components/mixers/reward-gap.js";
import { staticMixer } from "../../src/scoring/components/mixers/static.js";
import { tscl } from "../../src/scoring/components/mixers/tscl.js";
import { vcrlMix } from "../../src/scoring/components/mixers/vcrl-mix.js";
import { mixHistory, runMixer } from "../../src/testing.js";
import { domainStep } from "../helpers/domains.js";
import { useSystem } from "../helpers/system.js";

const system = useSystem({ workers: [{ slots: 2 }] });

/** Every mixer as a pipeline of one run, each with its own scorer. */
const PIPELINES = {
  reward_gap: { mixer: rewardGap, series: "reward" },
  static: { mixer: staticMixer, series: "reward", params: { proportions: [1, 2, 3] } },
  dump_ucb: { mixer: dumpUcb, series: "advantage" },
  tscl: { mixer: tscl, series: "reward", params: { temperature: 0.1 } },
  dads: { mixer: dads, series: "reward" },
  exp3: { mixer: exp3, series: "reward" },
  plr: { mixer: plr, series: "advantage" },
  doremi: { mixer: doremi, series: "reward" },
  vcrl_mix: { mixer: vcrlMix, series: "variance" },
  linear_schedule: { mixer: linearSchedule, series: "reward", params: { end: [0, 0, 1], end_step: 6 } },
} as const;
const DOMAINS = ["math", "code", "logic"];
const STEPS = 5;

/** Two rows of one group a domain: solved or not; binary, so that float32 changes nothing. */
const rewardsOf = (step: number): Record<string, number[]> => ({
  math: [1, Number(step > 2)],
  code: [Number(step % 2 === 0), 0],
  logic: step === 1 ? [] : [0, 0],
});
const meanOf = (values: readonly number[]) =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
/** Per step and domain: the mean reward, the mean |advantage| (here the reward again) or the group's normalised variance. */
const HISTORIES = {
  reward: (values: readonly number[]) => meanOf(values),
  advantage: (values: readonly number[]) => meanOf(values),
  variance: (values: readonly number[]) => (values.length === 0 ? null : Number(values[0] !== values[1])),
};

const results = new Map<number, Map<string, number[]>>();
let run: Run;

beforeAll(async () => {
  const blocks = Object.entries(PIPELINES).map(([name, pipeline]) => {
    const params = "params" in pipeline ? pipeline.params : {};
    return [name, { mechanism: "mix", actuator: { name, params }, domains: DOMAINS }];
  });
  run = await system.mount({ pipelines: Object.fromEntries(blocks) });
  for (let step = 1; step <= STEPS; step++) {
    const fields = domainStep(rewardsOf(step));
    const uid = fields.domain as string[];
    await run.put(step, "post_reward", { ...fields, uid });
    const advantages = fields.rm_scores.map(([, reward]) => [reward!, reward!]);
    await run.put(step, "post_advantage", { ...fields, advantages });
    const { pipelines } = await run.weights(step, { timeoutMs: 15_000 });
    results.set(step, new Map(pipelines.map((p) => [p.name, Object.values(p.proportions!)])));
    await run.release(step);
  }
});

test("each is mounted with its own scorer, at its scorer's stage", () => {
  const mounted = Object.fromEntries(run.handle.pipelines.map((p) => [p.name, [p.scorer?.name, p.stage]]));
  expect(mounted).toEqual({
    reward_gap: ["reward_difficulty", "post_reward"],
    static: [undefined, "post_reward"],
    dump_ucb: ["advantage_magnitude", "post_advantage"],
    tscl: ["reward_difficulty", "post_reward"],
    dads: ["reward_difficulty", "post_reward"],
    exp3: ["reward_difficulty", "post_reward"],
    plr: ["advantage_magnitude", "post_advantage"],
    doremi: ["reward_difficulty", "post_reward"],
    vcrl_mix: ["group_reward_variance", "post_reward"],
    linear_schedule: [undefined, "post_reward"],
  });
});

test.each(Object.entries(PIPELINES))(
  "%s gives after each step what it gives for the whole history",
  (name, pipeline) => {
    for (let step = 1; step <= STEPS; step++) {
      const means = Array.from({ length: step }, (_, i) =>
        Object.values(rewardsOf(i + 1)).map(HISTORIES[pipeline.series]),
      );
      const params = "params" in pipeline ? pipeline.params : {};
      const want = runMixer(pipeline.mixer, mixHistory(means, { domains: DOMAINS, rows: 2 }), params);
      const have = results.get(step)!.get(name)!;
      for (const [d, share] of want.entries()) {
        expect(have[d], `${name}, step ${step}, share ${d} of ${have}`).toBeCloseTo(share, 9);
      }
    }
  },
);

test("a floor that does not fit, shares of another length and a missing list are refused at once", async () => {
  const mount = system.mount({
    pipelines: {
      a: { mechanism: "mix", actuator: { name: "reward_gap", params: { floor: 0.4 } }, domains: DOMAINS },
      b: { mechanism: "mix", actuator: { name: "static", params: { proportions: [1, 1] } }, domains: DOMAINS },
      c: { mechanism: "mix", actuator: { name: "tscl" } },
    },
  });
  await expect(mount).rejects.toThrow(DataflexError);
  await expect(mount).rejects.toThrow(/at most 1\/3 .*\n.*\n.*3 domains, got 2 entries\n.*\n.*needs domains/s);
});
