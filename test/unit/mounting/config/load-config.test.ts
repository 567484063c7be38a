import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type ConfigFile, loadConfig, parseConfig } from "../../../../src/mounting/config/load-config.js";

function parsed(text: string): ConfigFile {
  const loaded = parseConfig(text, "c.yaml");
  if (!loaded.ok) throw new Error(loaded.problems[0]?.message);
  return loaded.config;
}
function refused(text: string) {
  const loaded = parseConfig(text, "c.yaml");
  if (loaded.ok) throw new Error("was accepted");
  return loaded.problems;
}

const VERL = `
# a whole verl configuration
defaults: [ppo]
algorithm:
  adv_estimator: AdvantageEstimator.GRPO
  gamma: \${oc.env:GAMMA}
actor_rollout_ref: {rollout: {n: 8, name: vllm}}
trainer: {v1: {trainer_mode: dataflex_sync}}
dataflex:
  mechanism: reweight
  scorer:   {name: advantage_magnitude}
  actuator: {name: softmax, params: {temperature: 1.0}}
`;

describe("parseConfig", () => {
  it("reads block, estimator and group size from a whole verl configuration and ignores the rest", () => {
    const config = parsed(VERL);
    expect(config.adv_estimator).toBe("AdvantageEstimator.GRPO");
    expect(config.group_size).toBe(8);
    expect(config.dataflex).toEqual({
      mechanism: "reweight",
      scorer: { name: "advantage_magnitude" },
      actuator: { name: "softmax", params: { temperature: 1 } },
    });
    expect(config.locate(["dataflex", "actuator", "params", "temperature"])).toEqual({ line: 12, col: 38 });
    expect(config.locate(["dataflex", "scorer", "params", "absent"])).toEqual({ line: 11, col: 3 });
  });

  it("reads a bare block, whose paths begin with dataflex all the same", () => {
    const config = parsed("mechanism: select\nscorer: {name: x}\n");
    expect(config.dataflex).toEqual({ mechanism: "select", scorer: { name: "x" } });
    expect(config.locate(["dataflex", "scorer", "name"])).toEqual({ line: 2, col: 10 });
    expect(config.locate(["dataflex"])).toEqual({ line: 1, col: 1 });
  });

  it("reads JSON with tabs, and a byte order mark", () => {
    const json = '\ufeff{\n\t"dataflex": {\n\t\t"mechanism": "select",\n\t\t"clip": [1, 2]\n\t}\n}';
    const config = parsed(json);
    expect(config.dataflex).toEqual({ mechanism: "select", clip: [1, 2] });
    expect(config.locate(["dataflex", "clip", 1])).toEqual({ line: 4, col: 15 });
  });

  it("follows aliases and merge keys", () => {
    const config = parsed(
      "base: &b {name: softmax, params: {t: 1}}\ndataflex: {mechanism: reweight, actuator: {<<: *b}, scorer: *b}\n",
    );
    expect(config.dataflex).toMatchObject({ actuator: { name: "softmax" }, scorer: { name: "softmax" } });
    expect(config.locate(["dataflex", "scorer", "params", "t"])).toEqual({ line: 1, col: 35 });
  });

  it("notes an estimator and a group size that are not plain values", () => {
    const config = parsed(
      `algorithm: {adv_estimator: "\${x.y}"}\nactor_rollout_ref: {rollout: {n: "\${k}"}}\ndataflex: {}\n`,
    );
    expect(config.adv_estimator).toBeUndefined();
    expect(config.group_size).toBeUndefined();
    expect(config.notes).toHaveLength(2);
  });

  it.each([
    ["an empty file", "", "the file is empty"],
    ["comments only", "# nothing\n", "the file is empty"],
    ["a list", "- a\n- b\n", "must hold a mapping"],
    ["a text", "just text", "must hold a mapping"],
    ["a cycle", "a: &x [*x]\ndataflex: {}\n", "contains itself"],
    ["a deep nest", "[".repeat(50_000), "not readable"],
    [
      "an alias bomb",
      "a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c]\ne: [*d,*d,*d,*d]\n",
      "cannot be expanded",
    ],
  ])("refuses %s", (_, text, message) => {
    const problems = refused(text);
    expect(problems.length).toBeLessThanOrEqual(3);
    expect(problems[0]?.message).toContain(message);
  });

  it("places a syntax error, a duplicate key and a second document", () => {
    expect(refused("dataflex:\n  scorer: [1,\nmore: 2")[0]).toMatchObject({ file: "c.yaml", line: 3, col: 1 });
    expect(refused("dataflex:\n  clip: 1\n  clip: 2\n")[0]).toMatchObject({
      line: 3,
      col: 3,
      message: expect.stringMatching(/unique/),
    });
    expect(refused("dataflex: {}\n---\na: 1\n")[0]).toMatchObject({
      message: expect.stringMatching(/more than one document/),
    });
  });

  it("points at a misspelt dataflex", () => {
    expect(refused("trainer: {}\ndatflex: {}\n")[0]).toMatchObject({
      line: 2,
      message: "no dataflex block in this file",
      suggestion: '"datflex": did you mean "dataflex"?',
    });
    expect(refused("trainer: {}\n")[0]?.suggestion).toBe("add one at the top level");
  });

  it("keeps hostile keys as own members", () => {
    const config = parsed('dataflex: {"__proto__": {"polluted": true}}\n');
    expect(Object.keys(config.dataflex as object)).toEqual(["__proto__"]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(config.locate(["dataflex", "__proto__"])).toEqual({ line: 1, col: 12 });
  });
});

describe("loadConfig", () => {
  it("reads a file, and says why one cannot be read", async () => {
    const folder = await mkdtemp(join(tmpdir(), "dfx-config-"));
    try {
      const file = join(folder, "c.json");
      await writeFile(file, '{"mechanism": "select"}');
      expect(await loadConfig(file)).toMatchObject({ ok: true, config: { dataflex: { mechanism: "select" } } });
      await expect(loadConfig(join(folder, "absent.yaml"))).rejects.toMatchObject({
        code: "CONFIG",
        message: expect.stringContaining("no such file"),
      });
      await expect(loadConfig(folder)).rejects.toMatchObject({
        code: "CONFIG",
        message: expect.stringContaining("it is a folder"),
      });
      await writeFile(file, " ".repeat(5 * 1024 * 1024));
      await expect(loadConfig(file)).rejects.toMatchObject({
        code: "CONFIG",
        message: expect.stringContaining("Is it the right file"),
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
