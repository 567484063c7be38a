import { describe, expect, it } from "vitest";
import { BUILT_INS } from "../../src/components/catalogue.js";
import { checkComponent } from "../../src/testing.js";

/** Parameters other than the defaults that take another path through a component. */
const VARIANTS: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  "scorer advantage_magnitude": [{ agg: "sum" }, { agg: "max" }],
  "scorer reward_difficulty": [{ mask_reward: false }],
  "scorer group_solve_rate": [{ mask_reward: false, success_threshold: 0.2 }],
  "reweighter softmax": [{ temperature: 0.01 }],
  "reweighter difficulty_band": [{ low_q: 0, high_q: 0.1, focus_weight: 0.5 }],
  "reweighter advantage_reweight": [{ alpha: 0 }, { alpha: 1 }],
  "reweighter per_advantage": [{ alpha: 0 }, { alpha: 2 }],
  "selector threshold_band": [{ closed: "both", low: 0.3, high: 0.7 }, { closed: "low" }, { closed: "high" }],
  "selector topk_fraction": [{ fraction: 0.3, largest: false }, { fraction: 1 }],
  "selector gfpo": [{ k: 1 }],
  "selector max_variance": [{ keep_fraction: 0.25 }],
};

describe.each(BUILT_INS.map((component) => ({ id: `${component.kind} ${component.name}`, component })))(
  "$id",
  ({ id, component }) => {
    it.each([{}, ...(VARIANTS[id] ?? [])])("has every property with %j", async (params) => {
      await checkComponent(component, { params });
    });

    it("says what it does, by which formula, and where that comes from", () => {
      const { doc } = component;
      expect(doc?.summary).toMatch(/\.$/);
      expect(doc?.formula).toBeTruthy();
      expect(doc?.edges?.length).toBeGreaterThan(0);
      expect(doc?.source?.ref).toBeTruthy();
    });

    it("describes exactly its parameters", () => {
      const shape = (component.params as unknown as { shape: Record<string, unknown> }).shape;
      expect(Object.keys(component.doc?.params ?? {}).sort()).toEqual(Object.keys(shape).sort());
    });

    it("refuses a misspelt parameter", () => {
      expect(component.params.safeParse({ temprature: 1 }).success).toBe(false);
    });
  },
);
