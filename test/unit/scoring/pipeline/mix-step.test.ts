import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { PipelineSpec } from "../../../../src/protocol/pipeline-spec.js";
import { stateOf } from "../../../../src/protocol/pipeline-state.js";
import { NO_STATE, packEntry, type RawState } from "../../../../src/protocol/saved-state.js";
import { BUILT_INS } from "../../../../src/scoring/components/catalogue.js";
import type { Component } from "../../../../src/scoring/components/component-types.js";
import { defineMixer } from "../../../../src/scoring/components/define.js";
import { createRegistry } from "../../../../src/scoring/components/registry.js";
import { mixStep } from "../../../../src/scoring/pipeline/mix-step.js";
import { pipelineSpec } from "../../../../src/testing/run-component.js";
import { fakeBatch } from "../../../../src/testing.js";

const SPEC: PipelineSpec = {
  ...pipelineSpec(undefined, undefined),
  name: "mix",
  mechanism: "mix",
  granularity: "domain",
  scorer: { name: "reward_difficulty", params: {} },
  actuator: { name: "reward_gap", params: { floor: 0 } },
  domains: ["math", "code"],
  domain_key: "domain",
  window: 50,
};
const batch = (domains: readonly string[], rewards: readonly number[], is_padding?: readonly boolean[]) =>
  fakeBatch(
    { domain: domains, response_mask: rewards.map(() => [1]), rm_scores: rewards.map((reward) => [reward]) },
    is_padding ? { is_padding } : {},
  );
const run = (step: number, trigger = 0) => ({ run: "r", step, trigger });
const mix = (
  input: {
    spec?: Partial<PipelineSpec>;
    step?: number;
    trigger?: number;
    state?: RawState;
    components?: readonly Component[];
  },
  rows = batch(["math", "code"], [1, 0.5]),
) =>
  mixStep({
    spec: { ...SPEC, ...input.spec },
    registry: createRegistry([...BUILT_INS, ...(input.components ?? [])]),
    batch: rows,
    run: run(input.step ?? 1, input.trigger),
    state: input.state ?? NO_STATE,
  });
const rawState = (steps: Readonly<Record<string, readonly [number, number]>>, by = stateOf(SPEC)!.by): RawState => ({
  keys: Object.keys(steps),
  entries: Object.values(steps).map(([math, code]) =>
    packEntry({
      inc: 1,
      by,
      values: [
        ["math", math, 1],
        ["code", code, 1],
      ],
    }),
  ),
});
const math = (difference: number) => 1 / (1 + Math.exp(difference));

describe("what a step says", () => {
  test("sum and count of each domain's live rows; a domain without rows says nothing", async () => {
    const rows = batch(["math", "math", "math", "code"], [1, 0.5, 9, 9], [false, false, true, true]);
    const { remember, metrics, proportions } = await mix({}, rows);
    expect(remember).toEqual({ keep: 20_000, values: [["math", 1.5, 2]] });
    expect(metrics).toMatchObject({ "rows/math": 2, "mean/math": 0.75, "rows/code": 0 });
    expect(proportions).toEqual({ math: 0.5, code: 0.5 });
  });

  test("padding may have any domain, a masked row may not", async () => {
    const padded = batch(["math", "pad"], [1, 0], [false, true]);
    expect((await mix({}, padded)).remember?.values).toHaveLength(1);
    const masked = fakeBatch({ domain: ["math", "chem"], response_mask: [[1], [0]], rm_scores: [[1], [0]] });
    await expect(mix({}, masked)).rejects.toMatchObject({ code: "INVALID_INPUT", details: { row: 1, domain: "chem" } });
  });

  test("nothing of a step without live rows but that it was", async () => {
    const { remember, flags } = await mix({}, batch(["math"], [1], [true]));
    expect(remember?.values).toEqual([]);
    expect(flags).toEqual(["no_live_rows"]);
  });

  test("a NaN is an error; dropped rows do not count; neutral remembers nothing of the step", async () => {
    const spoilt = batch(["math", "math", "code"], [Number.NaN, 1, 0]);
    await expect(mix({}, spoilt)).rejects.toMatchObject({ code: "NON_FINITE" });
    const dropped = await mix({ spec: { on_nonfinite: "drop" } }, spoilt);
    expect(dropped.remember?.values).toEqual([
      ["math", 1, 1],
      ["code", 0, 1],
    ]);
    const neutral = await mix({ spec: { on_nonfinite: "neutral" }, state: rawState({ "0.0": [1, 0] }) }, spoilt);
    expect(neutral.remember).toBeUndefined();
    expect(neutral.flags).toEqual(["neutral_nonfinite"]);
    expect(neutral.proportions!.math).toBeCloseTo(math(1), 12);
  });
});

describe("proportions", () => {
  test("follow from the steps up to the last update, whatever came later", async () => {
    const spec = { warmup_step: 2, update_step: 3 };
    const state = rawState({ "1.0": [1, 0], "4.0": [1, 1], "6.0": [0, 1], "7.0": [0, 1] });
    expect((await mix({ spec, state, step: 1 })).flags).toEqual(["warmup"]);
    for (const step of [5, 6, 7]) {
      const { proportions } = await mix({ spec, state, step });
      expect(proportions!.math).toBeCloseTo(math(step === 5 ? (1 + 1 + 1) / 3 - (0 + 1 + 0.5) / 3 : 1 - 0.5), 12);
    }
  });

  test("an entry of the same step is replaced by what the step says now", async () => {
    const { proportions } = await mix({ state: rawState({ "1.0": [0, 9] }) });
    expect(proportions!.math).toBeCloseTo(math(0.5), 12);
  });

  test("a later trigger sees the earlier ones of its step", async () => {
    const state = rawState({ "5.0": [1, 0], "5.2": [0, 9] });
    const { proportions } = await mix({ state, step: 5, trigger: 1 });
    expect(proportions!.math).toBeCloseTo(math(1 - 0.25), 12);
  });

  test("a domain that left the configuration is forgotten, a new one keeps its prior", async () => {
    const state = rawState({ "0.0": [1, 0] });
    const { proportions } = await mix({ spec: { domains: ["math", "logic"] }, state }, batch(["math"], [1]));
    expect(proportions).toEqual({ math: 0.5, logic: 0.5 });
  });
});

describe("a mixer of one's own", () => {
  const broken = (name: string, propose: () => unknown) =>
    defineMixer({ name, scorer: "none", params: z.strictObject({}), propose: propose as () => number[] });

  test.each([
    ["short", () => [1], /1 shares for 2 domains/],
    ["negative", () => [1.5, -0.5], /share 1 is -0.5/],
    ["nan", () => [Number.NaN, 1], /share 0 is NaN/],
    ["half", () => [0.2, 0.3], /sum to 0.5/],
    ["nothing", () => undefined, /returned undefined/],
    ["throwing", () => JSON.parse("{"), /mixer 'throwing' raised SyntaxError: .* \(mix-step.test.ts, line 139\)/],
  ])("that is %s is named", async (name, propose, message) => {
    const components = [broken(name, propose)];
    const failing = mix({ spec: { actuator: { name, params: {} } }, components });
    await expect(failing).rejects.toMatchObject({ code: "COMPONENT" });
    await expect(failing).rejects.toThrow(message);
  });

  test("may answer with any array of numbers", async () => {
    const components = [broken("typed", () => Float32Array.of(0.25, 0.75))];
    expect((await mix({ spec: { actuator: { name: "typed", params: {} } }, components })).proportions).toEqual({
      math: 0.25,
      code: 0.75,
    });
  });
});
