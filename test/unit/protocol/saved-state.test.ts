import { describe, expect, test } from "vitest";
import { pack } from "../../../src/protocol/codec.js";
import { checkSaved, packEntry, readSteps, type StateEntry, unpackEntry } from "../../../src/protocol/saved-state.js";
import { PromptHistory } from "../../../src/scoring/mix/prompt-history.js";

const entry = (value: number, by = "a"): StateEntry => ({ inc: 1_700_000_000_000, by, values: [["math", value, 2]] });

test("an entry travels bit for bit, by names that no object could have", () => {
  const values: StateEntry["values"] = [
    ["__proto__", 0.1, -0, 5e-324],
    ["", 1e300],
  ];
  expect(unpackEntry(packEntry({ inc: 3, by: "x", values }))).toEqual({ inc: 3, by: "x", values });
});

test.each([
  pack([1, "a"]),
  pack([1, "a", [["math", Number.NaN]]]),
  pack([1, "a", [[3, 1]]]),
  pack({ inc: 1 }),
  pack(["1", "a", []]),
])("anything else is refused (%#)", (bytes) => {
  expect(() => unpackEntry(bytes)).toThrow(expect.objectContaining({ code: "DECODE" }));
});

describe("readSteps", () => {
  const raw = (steps: Readonly<Record<string, StateEntry>>) => ({
    keys: Object.keys(steps),
    entries: Object.values(steps).map(packEntry),
  });

  test("in the order of steps and triggers, up to the one asked for, of one maker", () => {
    const state = raw({
      "10.0": entry(10),
      "9.1": entry(9.1),
      "9.0": entry(9),
      "11.0": entry(11),
      "2.0": entry(2, "b"),
    });
    const { steps, others } = readSteps(state, "a", { step: 10, trigger: 0 });
    expect(steps.map(({ step, trigger }) => [step, trigger])).toEqual([
      [9, 0],
      [9, 1],
      [10, 0],
    ]);
    expect(others).toBe(1);
  });
});

test("a saved state is checked entry by entry", () => {
  const saved = { v: 1, pipeline: "mix", steps: { "1.0": entry(1) } };
  expect(checkSaved(saved)).toBe(saved);
  for (const wrong of [undefined, {}, { ...saved, v: 2 }, { ...saved, steps: { one: entry(1) } }]) {
    expect(() => checkSaved(wrong)).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
  }
});

test("a prompt's visits, oldest first", () => {
  const history = new PromptHistory([
    {
      step: 1,
      trigger: 0,
      values: [
        ["a", 1],
        ["b", 2],
      ],
    },
    { step: 2, trigger: 0, values: [["a", 3]] },
  ]);
  expect(history.visits("a").map((visit) => visit.numbers)).toEqual([[1], [3]]);
  expect(history.latest("b")).toMatchObject({ step: 1, numbers: [2] });
  expect(history.latest("__proto__")).toBeUndefined();
});
