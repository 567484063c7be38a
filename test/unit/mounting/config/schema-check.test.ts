import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type JsonSchema, show, describe as words } from "../../../../src/mounting/config/describe.js";
import { checkMapping, defaultsOf } from "../../../../src/mounting/config/schema-check.js";

const schema = z.toJSONSchema(
  z.strictObject({
    temperature: z.number().positive().default(1),
    agg: z.enum(["mean", "sum", "max"]).default("mean"),
    alpha: z.number().min(0).max(1).default(0.5),
    k: z.int().min(1).default(8),
    range: z.tuple([z.number(), z.number()]).nullable().default(null),
    proportions: z.record(z.string(), z.number().min(0)).optional(),
    target: z.number(),
  }),
  { io: "input" },
) as JsonSchema;
const subject = { owner: "thing", noun: "parameter" } as const;
const check = (value: unknown) => checkMapping(schema, value, ["p"], subject);

describe("checkMapping", () => {
  it("fills in defaults", () => {
    expect(check({ target: 3, alpha: 1 })).toEqual({
      ok: true,
      value: { temperature: 1, agg: "mean", alpha: 1, k: 8, range: null, target: 3 },
    });
    expect(defaultsOf(schema)).toEqual({ temperature: 1, agg: "mean", alpha: 0.5, k: 8, range: null });
  });

  it("takes null and nothing for an empty mapping", () => {
    const empty = z.toJSONSchema(z.strictObject({ a: z.number().default(2) }), { io: "input" }) as JsonSchema;
    for (const nothing of [null, undefined, {}]) {
      expect(checkMapping(empty, nothing, [], subject)).toEqual({ ok: true, value: { a: 2 } });
    }
  });

  it("reports every problem, each once, with its path, range and near name", () => {
    const bad = {
      temprature: 1,
      agg: "men",
      alpha: 2,
      k: 1.5,
      range: [1],
      temperature: Number.POSITIVE_INFINITY,
      proportions: { a: -1 },
    };
    const checked = check(bad);
    expect(checked.ok).toBe(false);
    if (checked.ok) return;
    const byPath = Object.fromEntries(checked.problems.map((p) => [p.path.join("."), p]));
    expect(Object.keys(byPath).sort()).toEqual(
      ["p.agg", "p.alpha", "p.k", "p.proportions.a", "p.range", "p.target", "p.temperature", "p.temprature"].sort(),
    );
    expect(checked.problems).toHaveLength(8);
    expect(byPath["p.temprature"]?.message).toBe('thing has no parameter "temprature"');
    expect(byPath["p.temprature"]?.suggestion).toMatch(
      /^did you mean "temperature"\? {3}known: temperature \(number > 0, default 1\), agg/,
    );
    expect(byPath["p.agg"]).toMatchObject({
      message: 'thing: agg must be mean | sum | max, got "men"',
      suggestion: 'did you mean "mean"?',
    });
    expect(byPath["p.alpha"]?.message).toBe("thing: alpha must be number in [0, 1], got 2");
    expect(byPath["p.k"]?.message).toBe("thing: k must be integer >= 1, got 1.5");
    expect(byPath["p.range"]?.message).toBe("thing: range must be [number, number] or null, got [1]");
    expect(byPath["p.temperature"]?.message).toBe("thing: temperature must be number > 0, got Infinity");
    expect(byPath["p.target"]?.message).toBe('thing needs the parameter "target" (number)');
    expect(byPath["p.proportions.a"]?.message).toBe("thing: proportions.a must be number >= 0, got -1");
  });

  it("sees hostile keys and inherits nothing", () => {
    const checked = check(JSON.parse('{"__proto__": {"target": 1}, "constructor": 2, "toString": 3}'));
    expect(checked.ok).toBe(false);
    if (checked.ok) return;
    const names = checked.problems.map((p) => p.path.at(-1));
    expect(names).toEqual(expect.arrayContaining(["__proto__", "constructor", "toString", "target"]));
    expect(({} as Record<string, unknown>).target).toBeUndefined();
  });

  it("refuses what is not a mapping", () => {
    for (const value of [[], "x", 3, true]) expect(check(value)).toMatchObject({ ok: false });
  });

  it("says that interpolations are not resolved", () => {
    const checked = check({ target: ["$", "{trainer.target}"].join("") });
    expect(checked).toMatchObject({ ok: false, problems: [{ suggestion: expect.stringMatching(/interpolation/) }] });
  });

  it("leaves a schema that it cannot read to the component", () => {
    const odd = { type: "object", properties: { a: { default: 1 } }, if: {} };
    expect(checkMapping(odd, { b: 2 }, [], subject)).toEqual({ ok: true, value: { a: 1, b: 2 } });
  });
});

it("describes schemas in words", () => {
  expect(words({ type: "array", items: { type: "string" } })).toBe("list of text");
  expect(words({ anyOf: [{ type: "number", exclusiveMaximum: 3 }, { type: "null" }] })).toBe("number < 3 or null");
  expect(words({ type: ["number", "null"] })).toBe("number or null");
  expect(words({})).toBe("anything");
});

it("shows any value on one short line", () => {
  const loop: unknown[] = [];
  loop.push(loop);
  expect(show(loop)).toBe("[object Array]");
  expect(show(Number.NaN)).toBe("NaN");
  expect(show("x".repeat(500))).toHaveLength(60);
  expect(show({ a: 10n })).toBe('{"a":"10"}');
});
