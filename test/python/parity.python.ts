import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { worst } from "../helpers/batches.js";
import { raggedStep } from "../helpers/ragged.js";
import { useSystem } from "../helpers/system.js";

const PLUGINS = join(import.meta.dirname, "plugins");
const NUMPY = join(PLUGINS, "numpy_forms.py");
const ORIGINAL = join(PLUGINS, "original_forms.py");

const magnitude = { name: "advantage_magnitude" };
const softmax = { name: "softmax", params: { temperature: 0.7 } };
const rate = { name: "group_solve_rate" };
const band = { name: "threshold_band", params: { low: 0.2, high: 0.8 } };
const prob = { name: "token_prob" };
const blend = { name: "advantage_reweight", params: { alpha: 0.4 } };
const named = (name: string, params: object = {}) => ({ name, params });

describe("Python components give what the built-in ones give, alone and mixed with them", () => {
  const system = useSystem({ workers: [{ plugins: [NUMPY, ORIGINAL] }] });

  test.each([
    ["own scorer", "reweight", named("np_magnitude"), softmax, magnitude, softmax],
    [
      "own scorer with a choice",
      "reweight",
      named("np_magnitude", { agg: "sum" }),
      softmax,
      named("advantage_magnitude", { agg: "sum" }),
      softmax,
    ],
    ["own reweighter", "reweight", magnitude, named("np_softmax", { temperature: 0.7 }), magnitude, softmax],
    ["logarithms", "reweight", magnitude, named("np_log_softmax", { temperature: 0.7 }), magnitude, softmax],
    ["own pair", "reweight", named("np_magnitude"), named("np_softmax", { temperature: 0.7 }), magnitude, softmax],
    ["own token pair", "reweight", named("np_confidence"), named("np_blend", { alpha: 0.4 }), prob, blend],
    ["own token scorer", "reweight", named("np_confidence"), blend, prob, blend],
    ["own group scorer", "select", named("np_pass_rate"), band, rate, band],
    ["own selector", "select", rate, named("np_fresh", { low: 0.2, high: 0.8 }), rate, band],
    ["original scorer", "reweight", named("loudness"), softmax, magnitude, softmax],
    [
      "original reweighter",
      "reweight",
      magnitude,
      named("original_forms:softmax", { temperature: 0.7 }),
      magnitude,
      softmax,
    ],
    [
      "original pair",
      "reweight",
      named("loudness"),
      named("original_forms:softmax", { temperature: 0.7 }),
      magnitude,
      softmax,
    ],
    [
      "original token pair",
      "reweight",
      named("original_forms:token_prob"),
      named("original_forms:advantage_reweight", { alpha: 0.4 }),
      prob,
      blend,
    ],
    ["original token scorer", "reweight", named("original_forms:token_prob"), blend, prob, blend],
    ["original group scorer", "select", named("original_forms:group_solve_rate"), band, rate, band],
    ["original selector", "select", rate, named("original_forms:threshold_band", { low: 0.2, high: 0.8 }), rate, band],
    [
      "negative and repeated indices",
      "select",
      rate,
      named("original_forms:threshold_band", { low: 0.2, high: 0.8, negative: true }),
      rate,
      band,
    ],
    ...["grad", "array", "list", "column"].map(
      (answer) =>
        [`answer: ${answer}`, "reweight", named("loudness", { answer }), softmax, magnitude, softmax] as const,
    ),
  ] as const)("%s", async (_what, mechanism, scorer, actuator, wantScorer, wantActuator) => {
    const pipelines = {
      have: { mechanism, scorer, actuator },
      want: { mechanism, scorer: wantScorer, actuator: wantActuator },
    };
    const run = await system.mount({ pipelines });
    for (const step of [1, 2]) {
      const { fields, is_padding } = raggedStep(step);
      const wanted = Object.keys(fields);
      for (const [stage, needs] of Object.entries(run.handle.stages)) {
        const own = needs.map(({ name }) => name).filter((name) => wanted.includes(name));
        await run.put(
          step,
          stage as "post_reward",
          Object.fromEntries(own.map((name) => [name, fields[name as "uid"]])),
          { is_padding },
        );
      }
      const result = await run.weights(step, { timeoutMs: 30_000 });
      const [have, want] = ["have", "want"].map((name) => result.pipelines.find((p) => p.name === name)!);
      expect(worst(have!.weights, want!.weights)).toBeLessThan(1e-5);
      expect(have!.kept).toEqual(want!.kept);
      expect(have!.score_stats!.n).toBe(want!.score_stats!.n);
      expect(have!.score_stats!.mean).toBeCloseTo(want!.score_stats!.mean, 5);
    }
  });

  test("a selector of the original form finds the groups, though it can ask for no field", async () => {
    const run = await system.mount({
      mechanism: "select",
      scorer: magnitude,
      actuator: named("first_of_group"),
    });
    const { fields, is_padding } = raggedStep(1);
    const { advantages, response_mask, uid } = fields;
    await run.put(1, "post_advantage", { advantages, response_mask, uid }, { is_padding });
    // Row 3 is fully masked, the last two only fill up.
    expect([...(await run.weights(1, { timeoutMs: 30_000 })).pipelines[0]!.kept!]).toEqual([0, 4, 8, 12, 16, 20]);
  });

  test("what a component counts and warns of reaches the trainer; a selector finds what it remembered", async () => {
    const run = await system.mount({
      mechanism: "select",
      scorer: named("np_magnitude"),
      actuator: named("np_fresh", { low: 0, high: 9 }),
    });
    for (const step of [1, 2, 3]) {
      const { fields, is_padding } = raggedStep(step);
      const { advantages, response_mask } = fields;
      await run.put(step, "post_advantage", { advantages, response_mask }, { is_padding });
      const [p] = (await run.weights(step, { timeoutMs: 30_000 })).pipelines;
      expect(p!.metrics).toMatchObject({ rows_seen: 21, steps_known: step - 1 });
      expect(p!.warnings).toContain("kept by band");
    }
  });

  test("the same step draws the same numbers again, another step others", async () => {
    const block = { mechanism: "reweight", scorer: named("np_drawn"), actuator: softmax };
    const weights: number[][] = [];
    for (const step of [1, 1, 2]) {
      const run = await system.mount(block, { run_id: "drawn" });
      const { fields, is_padding } = raggedStep(1);
      const { advantages, response_mask } = fields;
      await run.put(step, "post_advantage", { advantages, response_mask }, { is_padding });
      weights.push([...(await run.weights(step, { timeoutMs: 30_000 })).pipelines[0]!.weights]);
      await run.close();
    }
    expect(weights[1]).toEqual(weights[0]);
    expect(weights[2]).not.toEqual(weights[0]);
  });
});
