import { describe, expect, test } from "vitest";
import { builtinCatalogue } from "../../../../src/mounting/catalogue/builtin.js";
import { resolve } from "../../../helpers/mount.js";

const BUILT_IN = [builtinCatalogue()];
const mix = (actuator: object, more: object = {}) => ({
  mechanism: "mix",
  actuator,
  domains: ["math", "code"],
  ...more,
});
const resolved = (dataflex: unknown, more = {}) => {
  const answer = resolve(dataflex, more, BUILT_IN);
  if (!answer.ok) throw new Error(JSON.stringify(answer.problems));
  return answer;
};
const problems = (dataflex: unknown, more = {}) => {
  const answer = resolve(dataflex, more, BUILT_IN);
  return answer.ok ? [] : answer.problems.map(({ path, message }) => `${path.slice(1).join(".")}: ${message}`);
};

describe("mix", () => {
  test("a mixer brings its own scorer, and reads the domain column", () => {
    const { pipelines, stages, warnings } = resolved(mix({ name: "dump_ucb" }, { domain_key: "data_source" }));
    expect(pipelines[0]).toMatchObject({
      mechanism: "mix",
      granularity: "domain",
      normalize: "none",
      stage: "post_advantage",
      scorer: { name: "advantage_magnitude", params: { agg: "mean" } },
      domains: ["math", "code"],
      domain_key: "data_source",
    });
    expect(stages.post_advantage?.map((need) => need.name)).toEqual(["response_mask", "advantages", "data_source"]);
    expect(warnings).toEqual([]);
  });

  test("static needs no scorer, no groups, nothing but the column", () => {
    const { pipelines, stages } = resolved(mix({ name: "static" }), { adv_estimator: "gae" });
    expect(pipelines[0]?.scorer).toBeUndefined();
    expect(stages).toEqual({ post_reward: [{ name: "domain" }] });
  });

  test("another scorer is mounted with a warning", () => {
    const scorer = { name: "advantage_magnitude" };
    expect(resolved(mix({ name: "reward_gap" }, { scorer })).warnings.join()).toMatch(/defined on "reward_difficulty"/);
    expect(resolved(mix({ name: "static" }, { scorer })).warnings.join()).toMatch(/"static" needs no scorer/);
  });

  test("the prior is one share a domain, made to sum to 1", () => {
    expect(resolved(mix({ name: "reward_gap" }, { prior: [3, 1] })).pipelines[0]?.prior).toEqual([0.75, 0.25]);
    expect(problems(mix({ name: "reward_gap" }, { prior: [1] }))).toEqual([
      "prior: prior must have one entry a domain: 2 domains, got 1 entries",
    ]);
    expect(problems(mix({ name: "reward_gap" }, { prior: [1e308, 1e308] }))[0]).toMatch(
      /^prior: prior has a sum beyond/,
    );
    expect(problems(mix({ name: "reward_gap" }, { prior: [0, 0] }))).toEqual([
      "prior: prior needs at least one entry above 0",
    ]);
  });

  test.each([
    [{ name: "reward_gap", params: { floor: 0.51 } }, /floor is a share of every one of 2 domains.*1\/2/],
    [{ name: "static", params: { proportions: [1, 2, 3] } }, /2 domains, got 3 entries/],
    [{ name: "static", params: { proportions: [0, 0] } }, /at least one entry above 0/],
    [
      { name: "linear_schedule", params: { end: [1, 1], begin_step: 9, end_step: 3 } },
      /begin_step must be below end_step/,
    ],
    [{ name: "linear_schedule" }, /needs the parameter "end"/],
    [{ name: "rewad_gap" }, /unknown mixer "rewad_gap"/],
    [{}, /needs the option "actuator.name"/],
  ])("refuses %j", (actuator, message) => {
    expect(problems(mix(actuator)).join("\n")).toMatch(message);
  });

  test("a floor of exactly 1/K is the uniform mixture, and fits", () => {
    const domains = ["a", "b", "c"];
    expect(problems(mix({ name: "reward_gap", params: { floor: 1 / 3 } }, { domains }))).toEqual([]);
  });

  test("domains must be listed, each once; the column must be there", () => {
    expect(problems({ mechanism: "mix", actuator: { name: "static" } })[0]).toMatch(/^domains: .*needs domains/);
    expect(problems(mix({ name: "static" }, { domains: ["a", "a"] }))[0]).toMatch(/"a" twice/);
    expect(problems(mix({ name: "static" }), { provides: ["rm_scores"] })[0]).toMatch(
      /mixer "static" needs the field "domain"/,
    );
  });

  test("token scores cannot be mixed, and a group scorer needs an estimator with groups", () => {
    expect(problems(mix({ name: "reward_gap" }, { scorer: { name: "token_prob" } }))[0]).toMatch(/one score per token/);
    expect(problems(mix({ name: "vcrl_mix" }), { adv_estimator: "gae" })[0]).toMatch(/has no groups/);
  });

  test("options of mix elsewhere have no effect, and say so", () => {
    const block = { mechanism: "reweight", scorer: { name: "advantage_magnitude" }, actuator: { name: "softmax" } };
    expect(resolved({ ...block, domains: ["a"] }).warnings.join()).toMatch(/domains has no effect/);
  });
});

describe("pre-rollout policies", () => {
  const greso = { mechanism: "select", actuator: { name: "greso" } };

  test("become two pipelines: one that chooses, and a hidden one that feeds it", () => {
    const { pipelines, stages } = resolved({ pipelines: { prompts: greso } });
    expect(pipelines.map(({ name, stage, shadow, policy }) => ({ name, stage, shadow, policy }))).toEqual([
      { name: "prompts", stage: "pre_rollout", shadow: false, policy: { role: "select", fed_by: "_feed-prompts" } },
      { name: "_feed-prompts", stage: "post_reward", shadow: true, policy: { role: "feed" } },
    ]);
    expect(stages.pre_rollout).toEqual([{ name: "dataset_key" }]);
    expect(stages.post_reward?.map((need) => need.name)).toEqual(["response_mask", "dataset_key", "rm_scores", "uid"]);
  });

  test("adarft reads the difficulty of its candidates, which is no token matrix", () => {
    const { stages } = resolved({ mechanism: "select", actuator: { name: "adarft", params: { batch_size: 8 } } });
    expect(stages.pre_rollout).toEqual([{ name: "dataset_key" }, { name: "difficulty" }]);
  });

  test("take no scorer, and no other mechanism", () => {
    const scorer = { name: "reward_difficulty" };
    expect(problems({ ...greso, scorer })).toEqual(['actuator.name: "greso" is a policy, not a selector']);
    expect(problems({ ...greso, mechanism: "reweight" }).join()).toMatch(/mechanism reweight needs a scorer/);
    expect(problems({ ...greso, actuator: { name: "gfpo" } }).join()).toMatch(/mechanism select needs a scorer/);
  });

  test("every field that feeds them must be there", () => {
    const provides = ["dataset_key", "rm_scores", "response_mask"];
    expect(problems(greso, { provides })).toEqual([expect.stringMatching(/policy "greso" needs the field "uid"/)]);
    expect(problems(greso, { adv_estimator: "gae" })[0]).toMatch(/has no groups/);
  });
});
