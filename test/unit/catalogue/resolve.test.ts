import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Catalogue, catalogueOf } from "../../../src/catalogue/entry.js";
import { ESTIMATORS } from "../../../src/catalogue/estimators.js";
import { MAX_PIPELINES, resolveMount } from "../../../src/catalogue/resolve.js";
import type { MountInput } from "../../../src/catalogue/types.js";
import { defineReweighter, defineScorer } from "../../../src/components/define.js";
import { FAKES, fakeCatalogue } from "../../helpers/catalogue.js";

const builtin = fakeCatalogue();
const REWEIGHT = {
  mechanism: "reweight",
  scorer: { name: "advantage_magnitude" },
  actuator: { name: "softmax", params: { temperature: 1.0 } },
};
const SELECT = {
  mechanism: "select",
  scorer: { name: "group_solve_rate", params: { success_threshold: 0.5 } },
  actuator: { name: "threshold_band", params: { low: 0.2, high: 0.8 } },
};

function resolve(dataflex: unknown, more: Partial<MountInput> = {}, catalogues: readonly Catalogue[] = [builtin]) {
  return resolveMount({ dataflex, mode: "check", adv_estimator: "grpo", ...more }, catalogues);
}
function mounted(...args: Parameters<typeof resolve>) {
  const resolution = resolve(...args);
  if (!resolution.ok) throw new Error(JSON.stringify(resolution.problems));
  return resolution;
}
function problems(...args: Parameters<typeof resolve>) {
  const resolution = resolve(...args);
  if (resolution.ok) throw new Error("was accepted");
  return resolution.problems.map((p) => ({ path: p.path.join("."), text: `${p.message} | ${p.suggestion ?? ""}` }));
}

describe("a sound block", () => {
  it("becomes one pipeline with defaults, stage, fields and route", () => {
    const { pipelines, stages, composition, ...rest } = mounted(SELECT, { group_size: 5 });
    expect(pipelines).toEqual([
      {
        name: "main",
        mechanism: "select",
        stage: "post_reward",
        scorer: { name: "group_solve_rate", params: { success_threshold: 0.5, mask_reward: true } },
        actuator: { name: "threshold_band", params: { low: 0.2, high: 0.8 } },
        fields: [
          { name: "response_mask", scope: "response" },
          { name: "rm_scores", scope: "response" },
          { name: "uid" },
        ],
        fingerprint: builtin.fingerprint,
        granularity: "row",
        normalize: "none",
        on_nonfinite: "error",
        on_empty: "drop_all",
        on_incomplete_group: "error",
        group_size: 5,
        warmup_step: 0,
        update_step: 1,
        window: 50,
        shadow: false,
      },
    ]);
    expect(Object.keys(stages)).toEqual(["post_reward"]);
    expect(composition).toEqual({ combine: "multiply", rescale: "none" });
    expect(rest).toMatchObject({ max_wait_ms: 300_000, on_unavailable: "error", warnings: [], notes: [] });
  });

  it("adds the mask whenever a token matrix is read, and widens a field needed in both scopes", () => {
    const wide = defineScorer({
      name: "wide",
      requires: [{ name: "old_log_probs", scope: "response" }],
      timing: "post_advantage",
      granularity: "token",
      params: z.strictObject({}),
      score: () => [],
    });
    const one = (name: string) => ({ ...REWEIGHT, scorer: { name }, actuator: { name: "advantage_reweight" } });
    const { stages, pipelines } = mounted({ pipelines: { a: one("token_prob"), b: one("wide") } }, {}, [
      fakeCatalogue([wide]),
    ]);
    expect(pipelines[0]?.fields).toEqual([
      { name: "response_mask", scope: "response" },
      { name: "old_log_probs", scope: "mask" },
    ]);
    expect(stages.post_advantage).toEqual([
      { name: "response_mask", scope: "response" },
      { name: "old_log_probs", scope: "response" },
    ]);
  });

  it("asks for the session column only where the trainer has one", () => {
    const provides = ["rm_scores", "response_mask", "uid"];
    expect(mounted(SELECT, { provides }).pipelines[0]?.fields.map((f) => f.name)).not.toContain("session");
    expect(mounted(SELECT, { provides: [...provides, "session"] }).pipelines[0]?.fields.map((f) => f.name)).toContain(
      "session",
    );
  });

  it.each([
    [null, "softmax", "row"],
    ["auto", "softmax", "row"],
    ["none", "softmax", "none"],
    ["token", "softmax", "token"],
    [null, "advantage_reweight", "token"],
    ["auto", "advantage_reweight", "token"],
  ])("normalize %s with %s is %s", (normalize, actuator, expected) => {
    const scorer = { name: actuator === "softmax" ? "advantage_magnitude" : "token_prob" };
    const { pipelines } = mounted({ mechanism: "reweight", normalize, scorer, actuator: { name: actuator } });
    expect(pipelines[0]?.normalize).toBe(expected);
  });

  it("puts a pipeline at the later stage of its two components", () => {
    const late = defineReweighter({
      name: "late",
      requires: ["advantages"],
      timing: "post_advantage",
      accepts: "row",
      params: z.strictObject({}),
      act: () => [],
    });
    const block = { ...SELECT, mechanism: "reweight", actuator: { name: "late" } };
    expect(mounted(block, {}, [fakeCatalogue([late])]).pipelines[0]?.stage).toBe("post_advantage");
  });

  it("takes several pipelines, composition and waiting options, null for unset", () => {
    const mount = mounted({
      pipelines: { weights: REWEIGHT, band: { ...SELECT, shadow: true } },
      clip: [0.1, 10],
      rescale: "token",
      combine: "replace",
      max_wait_ms: 1000,
      on_unavailable: "neutral",
      redis_url: null,
    });
    expect(mount.pipelines.map((p) => [p.name, p.stage, p.shadow])).toEqual([
      ["weights", "post_advantage", false],
      ["band", "post_reward", true],
    ]);
    expect(mount.composition).toEqual({ combine: "replace", rescale: "token", clip: [0.1, 10] });
    expect(mount.run).toMatchObject({ redis_url: null, run_id: null, record: null });
    expect(mounted({ ...REWEIGHT, shadow: true }).warnings[0]).toMatch(/every pipeline is a shadow/);
  });
});

describe("a wrong block", () => {
  it("answers with every problem at once", () => {
    const found = problems(
      {
        mechanism: "rewieght",
        scorer: { name: "group_solve_rate", params: { sucess_threshold: 0.5 } },
        actuator: { name: "softmax", params: { temprature: 2, temperature: -1 } },
        clip: [3, 1],
        warmup: 4,
        window: 0,
      },
      { adv_estimator: "gae" },
    );
    expect(found.map((p) => p.path).sort()).toEqual(
      [
        "dataflex.mechanism",
        "dataflex.warmup",
        "dataflex.window",
        "dataflex.clip",
        "dataflex.scorer.params.sucess_threshold",
        "dataflex.scorer.name",
        "dataflex.actuator.params.temprature",
        "dataflex.actuator.params.temperature",
      ].sort(),
    );
    const text = found.map((p) => p.text).join("\n");
    expect(text).toContain(
      'softmax has no parameter "temprature" | did you mean "temperature"?   known: temperature (number > 0, default 1)',
    );
    expect(text).toContain("softmax: temperature must be number > 0, got -1");
  });

  it.each([
    [
      "an unknown scorer",
      { ...REWEIGHT, scorer: { name: "advantage_magnitud" } },
      "scorer.name",
      /did you mean "advantage_magnitude"\? {3}registered scorers: advantage_magnitude, group_solve_rate, token_prob/,
    ],
    [
      "an actuator as scorer",
      { ...REWEIGHT, scorer: { name: "softmax" } },
      "scorer.name",
      /"softmax" is a reweighter, not a scorer/,
    ],
    [
      "another mechanism's actuator",
      { ...REWEIGHT, mechanism: "select" },
      "actuator.name",
      /"softmax" is a reweighter, not a selector.*set mechanism: reweight/,
    ],
    [
      "token scores for rows",
      { ...REWEIGHT, scorer: { name: "token_prob" } },
      "actuator.name",
      /one score a token, but reweighter "softmax" takes one a row.*reweighters by token: advantage_reweight; scorers by row: advantage_magnitude, group_solve_rate/,
    ],
    [
      "row scores for tokens",
      { ...REWEIGHT, actuator: { name: "advantage_reweight" } },
      "actuator.name",
      /one score a row, but reweighter "advantage_reweight" takes one a token/,
    ],
    ["no scorer", { mechanism: "reweight", actuator: { name: "softmax" } }, "scorer", /needs a scorer/],
    ["a bare string", { ...REWEIGHT, actuator: "softmax" }, "actuator", /must be mapping, got "softmax"/],
    [
      "params that are a list",
      { ...REWEIGHT, actuator: { name: "softmax", params: [1] } },
      "actuator.params",
      /expected a mapping of parameters/,
    ],
    [
      "a mixer",
      { mechanism: "mix", domains: ["a"], actuator: { name: "reward_gap" } },
      "mechanism",
      /none is registered/,
    ],
    ["normalize on select", { ...SELECT, normalize: "row" }, "normalize", /concerns mechanism reweight/],
    ["clip the wrong way round", { ...REWEIGHT, clip: [2, 1] }, "clip", /low <= high/],
    [
      "a hostile key",
      JSON.parse(
        '{"__proto__": {}, "mechanism": "reweight", "scorer": {"name": "advantage_magnitude"}, "actuator": {"name": "softmax"}}',
      ),
      "__proto__",
      /has no option/,
    ],
    [
      "an inherited name",
      { ...REWEIGHT, actuator: { name: "constructor" } },
      "actuator.name",
      /unknown reweighter "constructor"/,
    ],
  ])("%s is refused", (_, block, path, text) => {
    const found = problems(block);
    expect(found).toHaveLength(1);
    expect(found[0]?.path).toBe(`dataflex.${path}`);
    expect(found[0]?.text).toMatch(text);
  });

  it.each([[undefined], [null], [3], ["x"], [[]]])("%j is no block", (block) => {
    expect(problems(block)[0]?.text).toMatch(/must be a mapping/);
  });

  it("refuses too many pipelines, bad names, and options on the wrong level", () => {
    const many = Object.fromEntries(Array.from({ length: MAX_PIPELINES + 1 }, (_, i) => [`p${i}`, REWEIGHT]));
    expect(problems({ pipelines: many })[0]?.text).toMatch(/at most 16 pipelines a run, got 17/);
    const found = problems({ pipelines: { "a:b": REWEIGHT, ok: { ...REWEIGHT, clip: [1, 2] } }, normalize: "row" });
    expect(found.map((p) => p.path)).toEqual([
      "dataflex.normalize",
      "dataflex.pipelines.a:b",
      "dataflex.pipelines.ok.clip",
    ]);
    expect(found[0]?.text).toContain("move it to pipelines.<name>.normalize");
    expect(found[2]?.text).toContain("move it to dataflex.clip");
    expect(problems({ pipelines: {} })[0]?.text).toMatch(/must map names to blocks/);
    expect(problems({ pipelines: { a: 3 } })[0]?.text).toMatch(/expected a mapping/);
  });

  it("says that nothing is registered when no worker lives", () => {
    expect(problems(REWEIGHT, {}, []).map((p) => p.text)).toEqual([
      expect.stringMatching(/no worker has registered any component.*dataflex-mq worker/),
      expect.stringMatching(/no worker has registered/),
    ]);
  });
});

describe("groups", () => {
  const without = ESTIMATORS.filter((e) => !e.groups).map((e) => e.name);
  it.each(without)("group_solve_rate is refused under %s, and the message says why", (adv_estimator) => {
    const [problem, ...others] = problems(SELECT, { adv_estimator });
    expect(others).toEqual([]);
    expect(problem?.path).toBe("dataflex.scorer.name");
    expect(problem?.text).toContain(`the advantage estimator "${adv_estimator}" has no groups`);
    expect(problem?.text).toContain("grpo, ");
  });
  it.each(ESTIMATORS.filter((e) => e.groups).map((e) => e.name))("it mounts under %s", (adv_estimator) => {
    expect(mounted(SELECT, { adv_estimator, mode: "live" }).adv_estimator).toBe(adv_estimator);
  });
  it("reads the name as verl's enum prints it", () => {
    expect(problems(SELECT, { adv_estimator: "AdvantageEstimator.GAE" })[0]?.text).toContain('"gae"');
    expect(mounted(SELECT, { adv_estimator: "AdvantageEstimator.GRPO" }).adv_estimator).toBe("grpo");
  });
  it("an unknown estimator is the user's own: a warning, with a near name", () => {
    expect(mounted(SELECT, { adv_estimator: "grpoo" }).warnings[0]).toMatch(
      /"grpoo" is not one of verl's.*did you mean "grpo"/,
    );
    expect(mounted(SELECT, { adv_estimator: "remixed" }).warnings[0]).toMatch(/declared by the user/);
  });
  it("warns of an estimator that verl's trainers cannot run", () => {
    expect(mounted(REWEIGHT, { adv_estimator: "remax" }).warnings[0]).toMatch(/reward_baselines/);
  });
  it("an unset estimator is noted by check, refused by a live mount, left to replay's caller", () => {
    const unset = (mode: MountInput["mode"]) => resolveMount({ dataflex: SELECT, mode }, [builtin]);
    expect(unset("check")).toMatchObject({ ok: true, notes: [expect.stringMatching(/no advantage estimator given/)] });
    expect(unset("live")).toMatchObject({
      ok: false,
      problems: [{ message: expect.stringMatching(/did not say which/) }],
    });
    expect(unset("replay")).toMatchObject({ ok: true, notes: [] });
    expect(resolveMount({ dataflex: REWEIGHT, mode: "live" }, [builtin])).toMatchObject({ ok: true });
  });
  it("a group of one is refused", () => {
    expect(problems(SELECT, { group_size: 1 })[0]?.text).toMatch(/every group has 1 row/);
    expect(mounted(REWEIGHT, { group_size: 1 }).ok).toBe(true);
    expect(problems(REWEIGHT, { group_size: 2.5 })[0]?.path).toBe("group_size");
  });
});

describe("fields", () => {
  it("a field that the trainer does not have is refused, naming who needs it and a near name", () => {
    const found = problems(SELECT, { provides: ["rm_score", "response_mask"] });
    expect(found.map((p) => p.text)).toEqual([
      expect.stringMatching(
        /scorer "group_solve_rate" needs the field "rm_scores".*provides: rm_score, response_mask.*did you mean "rm_score"/,
      ),
      expect.stringMatching(/scorer "group_solve_rate" needs the field "uid".*the column "uid"/),
    ]);
  });
  it("an unknown trainer is taken to be verl: doubts are warnings", () => {
    const odd = defineScorer({
      name: "odd",
      requires: ["advantages", "moon_phase"],
      timing: "post_reward",
      granularity: "response",
      params: z.strictObject({}),
      score: () => [],
    });
    const { warnings } = mounted({ ...REWEIGHT, scorer: { name: "odd" } }, {}, [fakeCatalogue([odd])]);
    expect(warnings).toEqual([
      'scorer "odd": verl has "advantages" only from post_advantage on, it is read at post_reward',
      'scorer "odd": verl has no field "moon_phase": the trainer must provide it itself',
    ]);
  });
});

describe("several catalogues", () => {
  const mine = defineScorer({
    name: "mine",
    requires: ["rm_scores"],
    timing: "post_reward",
    granularity: "response",
    params: z.strictObject({}),
    score: () => [],
  });
  const plugin = (source: string) =>
    catalogueOf([...FAKES, mine], { prefix: "plugin", sourceOf: (c) => (c === mine ? source : undefined) });
  const block = { ...REWEIGHT, scorer: { name: "mine" } };

  it("routes to the one that holds both components, built-ins to the built-ins, in any order", () => {
    const a = plugin("a");
    expect(mounted(block, {}, [builtin, a]).pipelines[0]?.fingerprint).toBe(a.fingerprint);
    for (const order of [
      [builtin, a],
      [a, builtin],
    ]) {
      expect(mounted(REWEIGHT, {}, order).pipelines[0]?.fingerprint).toBe(builtin.fingerprint);
    }
  });

  it("refuses a name that two define differently until one is named", () => {
    const [a, b] = [plugin("a"), plugin("b")];
    const [problem] = problems(block, {}, [builtin, a, b]);
    expect(problem?.text).toMatch(
      /scorer "mine" is defined differently by plugin-\w+ and plugin-\w+.*fingerprint: plugin-/,
    );
    const named = { ...block, scorer: { name: "mine", fingerprint: b.fingerprint } };
    expect(mounted(named, {}, [builtin, a, b]).pipelines[0]?.fingerprint).toBe(b.fingerprint);
    const gone = { ...block, scorer: { name: "mine", fingerprint: "plugin-000000000000" } };
    expect(problems(gone, {}, [builtin, a])[0]?.path).toBe("dataflex.scorer.fingerprint");
    const both = { ...named, actuator: { name: "softmax", fingerprint: a.fingerprint } };
    expect(problems(both, {}, [builtin, a, b])[0]?.path).toBe("dataflex.actuator.fingerprint");
  });

  it("refuses two components that no worker holds together", () => {
    const lonely = catalogueOf([mine], { prefix: "plugin" });
    expect(problems(block, {}, [builtin, lonely])[0]?.text).toMatch(/no worker can run both/);
  });

  it("answers a timing that it does not know, as another process may register anything", () => {
    const foreign = (timing: string) => {
      const entries = builtin.entries.map((e) =>
        e.name === "advantage_magnitude" ? { ...e, timing: timing as never } : e,
      );
      return problems(REWEIGHT, {}, [{ fingerprint: "plugin-x", entries }])[0]?.text;
    };
    expect(foreign("in_loss")).toMatch(/current policy's log-probs.*post_advantage/);
    expect(foreign("post_rewards")).toMatch(/unknown timing "post_rewards" \| did you mean "post_reward"/);
  });

  it("checks rules between parameters", () => {
    const entries = builtin.entries.map((e) =>
      e.name === "threshold_band" ? { ...e, rules: [{ rule: "less" as const, params: ["low", "high"] as const }] } : e,
    );
    const catalogue = { fingerprint: builtin.fingerprint, entries };
    const bad = { ...SELECT, actuator: { name: "threshold_band", params: { low: 0.8, high: 0.2 } } };
    expect(problems(bad, {}, [catalogue])[0]?.text).toContain("low must be below high, got low = 0.8 and high = 0.2");
    expect(mounted(SELECT, {}, [catalogue]).ok).toBe(true);
  });
});
