import { describe, expect, it } from "vitest";
import { MAX_PIPELINES } from "../../../../src/mounting/catalogue/resolve.js";
import { problems, REWEIGHT, SELECT } from "../../../helpers/mount.js";

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
      /one score per token, but reweighter "softmax" takes one per row.*reweighters by token: advantage_reweight; scorers by row: advantage_magnitude, group_solve_rate/,
    ],
    [
      "row scores for tokens",
      { ...REWEIGHT, actuator: { name: "advantage_reweight" } },
      "actuator.name",
      /one score per row, but reweighter "advantage_reweight" takes one per token/,
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
    ["normalize on select", { ...SELECT, normalize: "row" }, "normalize", /applies to mechanism reweight/],
    ["clip beyond float32", { ...REWEIGHT, clip: [1e39, 1e40] }, "clip", /float32/],
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
