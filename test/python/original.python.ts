import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { worst } from "../helpers/batches.js";
import { raggedStep } from "../helpers/ragged.js";
import { useSystem } from "../helpers/system.js";

/**
 * The components of the real DataFlex-RL, unchanged, beside ours: `DFX_DATAFLEX_VERL=…/src/dataflex_verl npm run test:python`. The package has no
 * licence that would let it lie here, and it is in no registry.
 */
const SOURCE = process.env.DFX_DATAFLEX_VERL;
const file = (name: string): string => join(SOURCE ?? "", `${name}.py`);
const named = (name: string, params: object = {}) => ({ name, params });

describe.skipIf(SOURCE === undefined)("the real package's components equal the built-in ones", () => {
  const plugins = ["scorers", "reweighters", "selectors", "mixers"].map(file);
  const system = useSystem({ workers: SOURCE === undefined ? [] : [{ plugins }] });

  const magnitude = "advantage_magnitude";
  test.each([
    ["reweight", magnitude, {}, "softmax", { temperature: 0.5 }],
    ["reweight", magnitude, { agg: "sum" }, "softmax", {}],
    ["reweight", magnitude, { agg: "max" }, "per_advantage", { alpha: 0.6 }],
    ["reweight", "reward_difficulty", {}, "difficulty_band", { focus_weight: 3 }],
    ["reweight", "token_prob", {}, "advantage_reweight", { alpha: 0.3 }],
    ["select", "group_solve_rate", {}, "threshold_band", { low: 0.2, high: 0.8 }],
    ["select", magnitude, {}, "topk_fraction", { fraction: 0.4 }],
    ["select", magnitude, {}, "topk_fraction", { fraction: 0.4, largest: false }],
    ["select", "reward_difficulty", {}, "gfpo", { k: 2, metric: "efficiency" }],
    ["select", magnitude, {}, "gfpo", { k: 2, metric: "short" }],
    ["select", magnitude, {}, "max_variance", { keep_fraction: 0.5 }],
  ] as [string, string, object, string, { metric?: string }][])(
    "%s by %s %j, %s %j",
    async (mechanism, scorer, scorerParams, actuator, params) => {
      const theirs = `${mechanism === "select" ? "selectors" : "reweighters"}:${actuator}`;
      const own = { scorer: named(scorer, scorerParams), actuator: named(actuator, params) };
      const pipelines = {
        ours: { mechanism, ...own },
        theirs: { mechanism, scorer: named(`scorers:${scorer}`, scorerParams), actuator: named(theirs, params) },
      };
      const run = await system.mount({ pipelines });
      for (const step of [1, 2, 3]) {
        const { fields, is_padding } = raggedStep(step);
        for (const [stage, needs] of Object.entries(run.handle.stages)) {
          const names = needs.map(({ name }) => name).filter((name) => Object.hasOwn(fields, name));
          const sent = Object.fromEntries(names.map((name) => [name, fields[name as "uid"]]));
          await run.put(step, stage as "post_reward", sent, { is_padding });
        }
        const result = await run.weights(step, { timeoutMs: 30_000 });
        const [have, want] = ["theirs", "ours"].map((name) => result.pipelines.find((p) => p.name === name)!);
        if (actuator === "gfpo" && params.metric === "short") {
          // Lengths tie, and torch.topk settles ties as it likes: as many rows, of the same lengths.
          const kept = (of: typeof have) =>
            [...of!.kept!]
              .map((row) => `${fields.uid[row]} ${fields.response_mask[row]!.reduce((a, b) => a + b)}`)
              .sort();
          expect(kept(have)).toEqual(kept(want));
          continue;
        }
        expect(worst(have!.weights, want!.weights)).toBeLessThan(1e-5);
        expect(have!.kept).toEqual(want!.kept);
      }
    },
  );

  // tscl reads slopes as its scores, which DataFlex-RL's trainer never passed: it is handed mean rewards there, and here.
  test.each([
    ["reward_gap", "reward_difficulty", { temperature: 0.5 }],
    ["static", "reward_difficulty", { proportions: [3, 1] }],
    ["dump_ucb", magnitude, { temperature: 0.5, c: 2 }],
    ["tscl", "reward_difficulty", {}],
  ])("mix by %s", async (mixer, scorer, params) => {
    const common = { mechanism: "mix", domains: ["math", "code"], scorer: named(scorer) };
    const ours = mixer === "static" ? params : { ...params, floor_mode: "clip" };
    const pipelines = {
      ours: { ...common, actuator: named(mixer, ours) },
      theirs: { ...common, actuator: named(`mixers:${mixer}`, params) },
    };
    const run = await system.mount({ pipelines });
    for (const step of [1, 2, 3]) {
      const { fields, is_padding } = raggedStep(step);
      const domain = fields.uid.map((_, i) => (i % 3 === 0 ? "code" : "math"));
      const all: Record<string, unknown> = { ...fields, domain };
      for (const [stage, needs] of Object.entries(run.handle.stages)) {
        const names = needs.map(({ name }) => name).filter((name) => Object.hasOwn(all, name));
        await run.put(
          step,
          stage as "post_reward",
          Object.fromEntries(names.map((name) => [name, all[name]])) as typeof fields,
          { is_padding },
        );
      }
      const result = await run.weights(step, { timeoutMs: 30_000 });
      const [have, want] = ["theirs", "ours"].map((name) => result.pipelines.find((p) => p.name === name)!);
      const shares = (of: typeof have) => Object.values(of!.proportions ?? {});
      expect(shares(want)).toHaveLength(2);
      if (mixer === "tscl") expect(shares(have).reduce((a, b) => a + b)).toBeCloseTo(1, 9);
      else expect(worst(shares(have), shares(want))).toBeLessThan(1e-6);
    }
  });
});
