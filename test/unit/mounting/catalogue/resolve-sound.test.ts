import { describe, expect, it } from "vitest";
import { z } from "zod";
import { catalogueOf } from "../../../../src/mounting/catalogue/catalogue-entry.js";
import { BUILT_INS } from "../../../../src/scoring/components/catalogue.js";
import { defineReweighter, defineScorer } from "../../../../src/scoring/components/define.js";
import { fakeCatalogue } from "../../../helpers/catalogue.js";
import { builtin, mounted, problems, REWEIGHT, SELECT } from "../../../helpers/mount.js";

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

  it("takes a field of the trainer's own where provides ends in *, with a warning; verl's own fields must still be there", () => {
    const own = { ...SELECT, scorer: { name: "column", params: { name: "acc" } } };
    const provides = ["rm_scores", "response_mask", "uid"];
    const all = [catalogueOf(BUILT_INS)];
    expect(mounted(own, { provides: [...provides, "*"] }, all).warnings).toEqual([
      expect.stringContaining('no field "acc"'),
    ]);
    expect(problems(own, { provides }, all).map(({ text }) => text)).toEqual([expect.stringContaining('"acc"')]);
    const entropy = { ...SELECT, scorer: { name: "seq_entropy" } };
    expect(problems(entropy, { provides: [...provides, "*"] }, all).map(({ text }) => text)).toEqual([
      expect.stringContaining('"entropy"'),
    ]);
  });

  it("never waits for sessions, whatever the trainer has: they ride along with uid", () => {
    const provides = ["rm_scores", "response_mask", "uid", "session"];
    for (const input of [{}, { provides }]) {
      expect(mounted(SELECT, input).pipelines[0]?.fields.map((f) => f.name)).not.toContain("session");
    }
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
