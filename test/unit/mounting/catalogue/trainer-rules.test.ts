import { describe, expect, it } from "vitest";
import { defineReweighter, z } from "../../../../src/index.js";
import { builtinCatalogue } from "../../../../src/mounting/catalogue/builtin.js";
import { catalogueOf } from "../../../../src/mounting/catalogue/catalogue-entry.js";
import type { MountInput } from "../../../../src/mounting/catalogue/resolution.js";
import { resolveMount } from "../../../../src/mounting/catalogue/resolve.js";
import { COMPONENT_RULES, LOSS_RULES } from "../../../../src/mounting/catalogue/trainer-rules.js";
import type { TrainerSettings } from "../../../../src/protocol/mount-messages.js";

const builtin = builtinCatalogue();
const ROW = { mechanism: "reweight", scorer: { name: "advantage_magnitude" }, actuator: { name: "softmax" } };
const SELECT = { mechanism: "select", scorer: { name: "advantage_magnitude" }, actuator: { name: "topk_fraction" } };
const TOKEN = {
  mechanism: "reweight",
  scorer: { name: "token_prob" },
  actuator: { name: "advantage_reweight", params: { alpha: 0.5 } },
};
const ALPHA_ONE = { ...TOKEN, actuator: { name: "advantage_reweight", params: { alpha: 1 } } };
const TOKENS_KEPT = { mechanism: "select", scorer: { name: "token_entropy" }, actuator: { name: "entropy_topk" } };
const ENTROPY = { ...ROW, scorer: { name: "seq_entropy" } };
const RATIO = { ...ROW, scorer: { name: "seq_is_ratio" } };
const REF = { ...TOKEN, scorer: { name: "ref_kl" } };
const MIX = {
  mechanism: "mix",
  actuator: { name: "static", params: { proportions: [0.5, 0.5] } },
  domains: ["a", "b"],
};

function judge(dataflex: unknown, trainer?: TrainerSettings, more: Partial<MountInput> = {}) {
  const input: MountInput = { dataflex, mode: "live", adv_estimator: "grpo", ...(trainer && { trainer }), ...more };
  const answer = resolveMount(input, [builtin]);
  const warnings = answer.ok ? answer.warnings : [];
  return answer.ok
    ? { problems: [], warnings }
    : {
        problems: answer.problems.map((p) => ({ path: p.path.join("."), message: p.message, try: p.suggestion })),
        warnings,
      };
}
const LOSS_MODE = "actor_rollout_ref.actor.policy_loss.loss_mode";

type Case = [what: string, block: unknown, trainer: TrainerSettings | undefined, more?: Partial<MountInput>];

/** Rule → blocks and settings that break it. */
const REFUSED: Record<
  string,
  { readonly at: string; readonly says: RegExp; readonly cases: Case[]; readonly fine: Case[] }
> = {
  loss_ignores_weights: {
    at: LOSS_MODE,
    says: /ignores rollout_is_weights/,
    cases: [["row weights", ROW, { loss_mode: "bypass_mode" }]],
    fine: [
      ["vanilla", ROW, { loss_mode: "vanilla" }],
      ["nothing given", ROW, undefined],
      ["a shadow", { ...ROW, shadow: true }, { loss_mode: "bypass_mode" }],
      ["a mix", MIX, { loss_mode: "bypass_mode" }],
    ],
  },
  loss_unknown: {
    at: LOSS_MODE,
    says: /"my_loss" is not known here \(verl 0\.8\)/,
    cases: [["a loss of one's own", ROW, { loss_mode: "my_loss", verl: "0.8" }]],
    fine: [
      ["vouched for", { ...ROW, i_know_it_multiplies: true }, { loss_mode: "my_loss" }],
      ...["dppo_tv", "dppo_kl", "gspo", "sapo", "gpg", "clip_cov", "kl_cov", "dro", "cispo", "geo_mean"].map(
        (loss_mode): Case => [loss_mode, ROW, { loss_mode }],
      ),
    ],
  },
  resampled_batch: {
    at: "algorithm.use_pf_ppo",
    says: /resample the rows/,
    cases: [["selection", SELECT, { use_pf_ppo: true }]],
    fine: [
      ["off", SELECT, { use_pf_ppo: false }],
      ["a mix", MIX, { use_pf_ppo: true }],
    ],
  },
  zero_in_geometric_mean: {
    at: "dataflex.actuator.name",
    says: /one zero would silence the row/,
    cases: [
      ["a token selector", TOKENS_KEPT, { loss_mode: "geo_mean" }],
      ["a token reweighter whose weights reach 0", ALPHA_ONE, { loss_mode: "geo_mean" }],
    ],
    fine: [
      ["a token reweighter that stays above", TOKEN, { loss_mode: "geo_mean" }],
      ["rows dropped as a whole", SELECT, { loss_mode: "geo_mean" }],
      ["another loss", TOKENS_KEPT, { loss_mode: "gspo" }],
      ["a shadow", { ...TOKENS_KEPT, shadow: true }, { loss_mode: "geo_mean" }],
    ],
  },
  entropy_under_bypass: {
    at: "dataflex.scorer.name",
    says: /reads entropy/,
    cases: [["an entropy scorer", ENTROPY, { bypass_mode: true }]],
    fine: [
      ["without bypass", ENTROPY, { bypass_mode: false }],
      ["another scorer", ROW, { bypass_mode: true }],
    ],
  },
  ratio_under_bypass: {
    at: "dataflex.scorer.name",
    says: /which are the same under/,
    cases: [["a ratio", RATIO, { bypass_mode: true, calculate_log_probs: true }]],
    fine: [["without bypass", RATIO, { bypass_mode: false, calculate_log_probs: true }]],
  },
  ratio_without_log_probs: {
    at: "dataflex.scorer.name",
    says: /calculate_log_probs is false/,
    cases: [["a ratio", RATIO, { calculate_log_probs: false }]],
    fine: [
      ["with them", RATIO, { calculate_log_probs: true }],
      ["nothing given", RATIO, undefined],
      ["another scorer", ROW, { calculate_log_probs: false }],
    ],
  },
  reference_without_kl: {
    at: "dataflex.scorer.name",
    says: /both are false/,
    cases: [["ref_kl", REF, { use_kl_loss: false, use_kl_in_reward: false }]],
    fine: [
      ["KL in the loss", REF, { use_kl_loss: true, use_kl_in_reward: false }],
      ["KL in the reward", REF, { use_kl_in_reward: true }],
      ["another scorer", ROW, { use_kl_loss: false, use_kl_in_reward: false }],
    ],
  },
};

const WARNED: Record<string, { readonly says: RegExp; readonly cases: Case[]; readonly fine: Case[] }> = {
  loss_geometric_mean: {
    says: /geometric mean of its weights, not each token's/,
    cases: [["row weights", ROW, { loss_mode: "geo_mean" }]],
    fine: [["vanilla", ROW, { loss_mode: "vanilla" }]],
  },
  loss_multiplies_kl: {
    says: /multiplies its KL part/,
    cases: [["row weights", ROW, { loss_mode: "kl_cov" }]],
    fine: [["clip_cov", ROW, { loss_mode: "clip_cov" }]],
  },
  bypass_switches_loss: {
    says: /older trainers switch/,
    cases: [["row weights", ROW, { bypass_mode: true }]],
    fine: [
      ["off", ROW, { bypass_mode: false }],
      ["a v1 trainer", ROW, { bypass_mode: true, verl: "0.9.1" }],
    ],
  },
  ratio_unsure: {
    says: /calculate_log_probs is not given/,
    cases: [["a ratio", RATIO, {}]],
    fine: [
      ["given", RATIO, { calculate_log_probs: true }],
      ["nothing given", RATIO, undefined],
      ["provided", RATIO, {}, { provides: ["old_log_probs", "rollout_log_probs", "response_mask"] }],
    ],
  },
  reference_unsure: {
    says: /neither is known to be true/,
    cases: [
      ["nothing about KL", REF, {}],
      ["half of it", REF, { use_kl_loss: false }],
    ],
    fine: [
      ["given", REF, { use_kl_loss: true }],
      ["provided", REF, {}, { provides: ["old_log_probs", "ref_log_prob", "response_mask"] }],
    ],
  },
};

it("every rule has its test", () => {
  const rules = Object.entries<{ verdict: string }>({ ...LOSS_RULES, ...COMPONENT_RULES });
  const names = (verdict: string) => rules.filter(([, rule]) => rule.verdict === verdict).map(([name]) => name);
  expect(Object.keys(REFUSED).sort()).toEqual(names("refuse").sort());
  expect(Object.keys(WARNED).sort()).toEqual(names("warn").sort());
});

describe.each(Object.entries(REFUSED))("%s", (_, { at, says, cases, fine }) => {
  it.each(cases)("refuses %s", (_what, block, trainer, more) => {
    const { problems } = judge(block, trainer, more);
    expect(problems).toEqual([{ path: at, message: expect.stringMatching(says), try: expect.stringMatching(/\w/) }]);
  });
  it.each(fine)("does not mind: %s", (_what, block, trainer, more) => {
    expect(judge(block, trainer, more).problems).toEqual([]);
  });
});

describe.each(Object.entries(WARNED))("%s", (_, { says, cases, fine }) => {
  it.each(cases)("warns of %s", (_what, block, trainer, more) => {
    const { problems, warnings } = judge(block, trainer, more);
    expect(problems).toEqual([]);
    expect(warnings).toContainEqual(expect.stringMatching(says));
  });
  it.each(fine)("does not mind: %s", (_what, block, trainer, more) => {
    expect(judge(block, trainer, more).warnings.filter((warning) => says.test(warning))).toEqual([]);
  });
});

describe("trainer settings", () => {
  it("are strict, and a wrong one hides no other problem", () => {
    const trainer = { loss_modes: "vanilla", use_kl_loss: "yes" } as object;
    const paths = judge({ ...ROW, actuator: { name: "softmax", params: { temprature: 1 } } }, trainer).problems;
    expect(paths.map((p) => p.path)).toEqual([
      "trainer.use_kl_loss",
      "trainer.loss_modes",
      "dataflex.actuator.params.temprature",
    ]);
    expect(paths[1]?.try).toContain("loss_mode");
  });

  it("every problem at once", () => {
    const pipelines = { a: ENTROPY, b: RATIO, c: TOKENS_KEPT };
    const trainer = { loss_mode: "geo_mean", bypass_mode: true, use_pf_ppo: true, calculate_log_probs: false };
    expect(judge({ pipelines }, trainer).problems.map((p) => p.path)).toEqual([
      "algorithm.use_pf_ppo",
      "dataflex.pipelines.a.scorer.name",
      "dataflex.pipelines.b.scorer.name",
      "dataflex.pipelines.b.scorer.name",
      "dataflex.pipelines.c.scorer.name",
      "dataflex.pipelines.c.actuator.name",
    ]);
  });

  it("groups of one are refused even where the estimator is not known", () => {
    const block = { ...ROW, scorer: { name: "group_solve_rate" } };
    const answer = resolveMount({ dataflex: block, mode: "check", group_size: 1 }, [builtin]);
    expect(answer).toMatchObject({
      ok: false,
      problems: [{ message: expect.stringMatching(/every group has 1 row/) }],
    });
  });

  it("a user's own token reweighter may say that its weights stay above 0", () => {
    const own = (name: string, more: object) =>
      defineReweighter({
        name,
        accepts: "token",
        params: z.strictObject({ base: z.number().default(1) }),
        act: (s) => s,
        ...more,
      });
    const mine = catalogueOf([own("plain", {}), own("floored", { positive: { param: "base", above: 0 } })]);
    const both = { fingerprint: "both", entries: [...builtin.entries, ...mine.entries] };
    const mount = (name: string, base: number) =>
      resolveMount(
        {
          dataflex: { ...TOKEN, actuator: { name, params: { base } } },
          mode: "live",
          adv_estimator: "grpo",
          trainer: { loss_mode: "geo_mean" },
        },
        [both],
      ).ok;
    expect([mount("plain", 1), mount("floored", 1), mount("floored", 0)]).toEqual([false, true, false]);
  });
});

describe("normalize auto", () => {
  const auto = (block: object, trainer?: TrainerSettings) => {
    const answer = resolveMount(
      { dataflex: { ...block, normalize: "auto" }, mode: "check", adv_estimator: "grpo", ...(trainer && { trainer }) },
      [builtin],
    );
    if (!answer.ok) throw new Error(JSON.stringify(answer.problems));
    return answer;
  };
  it.each([
    [{ loss_mode: "geo_mean" }, "row"],
    [{ loss_mode: "gspo", loss_agg_mode: "token-mean" }, "row"],
    [{ loss_mode: "sapo" }, "row"],
    [{ loss_agg_mode: "seq-mean-token-mean" }, "row"],
    [{ loss_mode: "vanilla", loss_agg_mode: "token-mean" }, "token"],
    [{ loss_agg_mode: "token-sum" }, "token"],
    [{ loss_agg_mode: "seq-mean-token-sum" }, "token"],
    [{ loss_mode: "cispo", loss_agg_mode: "seq-mean-token-sum-norm" }, "token"],
  ] as [TrainerSettings, string][])("%j: %s, for row and token weights alike, and says so", (trainer, level) => {
    for (const block of [ROW, TOKEN]) {
      const answer = auto(block, trainer);
      expect(answer.pipelines[0]?.normalize).toBe(level);
      expect(answer.notes).toContainEqual(expect.stringContaining(`normalize auto is ${level}: `));
    }
  });
  it.each([
    [undefined, /did not give its loss_agg_mode/],
    [{ loss_mode: "vanilla" }, /did not give its loss_agg_mode/],
    [{ loss_agg_mode: "sideways" }, /"sideways" is not one of verl's/],
  ] as [TrainerSettings | undefined, RegExp][])("%j: by the shape of the weights, with a warning", (trainer, why) => {
    for (const [block, level] of [
      [ROW, "row"],
      [TOKEN, "token"],
    ] as const) {
      const answer = auto(block, trainer);
      expect(answer.pipelines[0]?.normalize).toBe(level);
      expect(answer.warnings).toContainEqual(expect.stringMatching(why));
    }
  });
});
