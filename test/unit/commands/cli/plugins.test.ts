import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { dataflexMq } from "../../../helpers/cli.js";

const example = (name: string): string =>
  fileURLToPath(new URL(`../../../../examples/plugins/${name}.ts`, import.meta.url));
const MISCHIEF = fileURLToPath(new URL("../../../helpers/plugins/mischief.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "dfx-cli-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("components --plugin", () => {
  it.each([
    ["mean-surprise", ["scorer", "formula", "old_log_probs (mask)", "power (number > 0, default 1)"]],
    ["above-group-mean", ["selector", "formula", "whole groups", "margin (number >= 0, default 0)"]],
    [
      "least-seen",
      ["mixer", "formula", "scorer where none is named: response_length", "pseudo (number > 0, default 1)"],
    ],
    ["cool-down", ["policy", "formula", "pre_rollout; fed at post_reward", "steps (integer >= 0, default 3)"]],
  ])("describes the component of %s as it does a built-in", async (file, parts) => {
    const args = ["components", file.replaceAll("-", "_"), "--plugin", example(file)];
    const { code, out, err } = await dataflexMq(args);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    for (const part of [...parts, "edges", "source"]) expect(out).toContain(part);
  });

  it("prints nothing but its answer, whatever the plugin prints", async () => {
    const { out, err } = await dataflexMq(["components", "--plugin", MISCHIEF, "--json"]);
    expect(JSON.parse(out).fingerprint).toMatch(/^plugin-[0-9a-f]{12}$/);
    expect(err).toBe("mischief is imported\n");
  });
});

describe("check --plugin", () => {
  const config = join(folder, "dataflex.yaml");
  const check = (power: string, ...more: string[]) => {
    const scorer = `  scorer: {name: mean_surprise, params: {power: ${power}}}`;
    writeFileSync(config, `dataflex:\n  mechanism: reweight\n${scorer}\n  actuator: {name: softmax}\n`);
    return dataflexMq(["check", config, "--adv-estimator", "grpo", ...more]);
  };

  it("knows the plugin's components, and holds their parameters to their ranges", async () => {
    expect((await check("2")).err).toContain('unknown scorer "mean_surprise"');
    const known = await check("2", "--plugin", example("mean-surprise"));
    expect(known.code).toBe(0);
    expect(known.out).toContain("mean_surprise");
    const refused = await check("-1", "--plugin", example("mean-surprise"));
    expect(refused.code).toBe(2);
    expect(refused.err).toMatch(/power/);
  });
});
