import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { checkFile } from "../../../../src/commands/cli/check-file.js";
import { parseConfig } from "../../../../src/mounting/config/load-config.js";
import { problemText } from "../../../../src/mounting/config/problems.js";
import { dataflexMq } from "../../../helpers/cli.js";
import { scratchFile } from "../../../helpers/scratch.js";

const FILE = fileURLToPath(new URL("../../../fixtures/verl/grpo.yaml", import.meta.url));
const text = await readFile(FILE, "utf8");
/** The file with lines changed: every replacement must hit. */
function changed(...changes: [from: string, to: string][]): string {
  return changes.reduce((whole, [from, to]) => {
    if (!whole.includes(from)) throw new Error(`nothing to replace: ${from}`);
    return whole.replace(from, to);
  }, text);
}
const lineOf = (needle: string) => text.split("\n").findIndex((line) => line.includes(needle)) + 1;

describe("a whole verl configuration", () => {
  it("passes, and says what normalize auto became", async () => {
    const { code, out, err } = await dataflexMq(["check", FILE]);
    expect(err).toBe("");
    expect(code).toBe(0);
    expect(out).toMatch(/is fine: 5 pipelines, advantage estimator grpo/);
    expect(out).toMatch(/pipelines\.magnitude: normalize auto is token: loss_agg_mode token-mean counts tokens alike/);
    expect(out).not.toMatch(/warning/);
  });

  it("gives the trainer's settings", () => {
    const loaded = parseConfig(text, FILE);
    expect(loaded.ok && loaded.config.trainer).toEqual({
      loss_mode: "vanilla",
      loss_agg_mode: "token-mean",
      bypass_mode: false,
      use_pf_ppo: false,
      use_kl_loss: true,
      use_kl_in_reward: false,
      calculate_log_probs: true,
    });
  });

  it("is refused with every problem at once, each at its line and column, exit 2", async () => {
    const bad = changed(
      ["loss_mode: vanilla", "loss_mode: my_loss"],
      ["use_pf_ppo: false", "use_pf_ppo: true"],
      ["use_kl_loss: true", "use_kl_loss: false"],
      ["calculate_log_probs: true", "calculate_log_probs: false"],
      ["    n: 8", "    n: 1"],
      ["temperature: 0.5", "temprature: 0.5"],
    );
    const file = await scratchFile("verl.yaml", bad);
    const { code, out, err } = await dataflexMq(["check", file]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/6 problems/);
    const report = await checkFile(file);
    if (report.ok) throw new Error("was accepted");
    const places = report.problems.map((p) => [p.path.join("."), p.line, p.col]);
    const at = (needle: string, name = needle) => [
      lineOf(needle),
      text.split("\n")[lineOf(needle) - 1]!.indexOf(name) + 1,
    ];
    expect(places).toEqual([
      ["dataflex.pipelines.solved.scorer.name", ...at("group_solve_rate", "name")],
      ["dataflex.pipelines.magnitude.actuator.params.temprature", ...at("{temperature: 0.5}", "temperature")],
      ["actor_rollout_ref.actor.policy_loss.loss_mode", ...at("policy_loss", "loss_mode")],
      ["algorithm.use_pf_ppo", ...at("use_pf_ppo")],
      ["dataflex.pipelines.drift.scorer.name", ...at("seq_is_ratio", "name")],
      ["dataflex.pipelines.reference.scorer.name", ...at("ref_kl}", "name")],
    ]);
    for (const problem of report.problems) expect(problemText(problem)).toContain(`verl.yaml:${problem.line}:`);
    expect(report.problems.every((p) => p.suggestion !== undefined)).toBe(true);
  });

  it("a loss of one's own passes once it is vouched for", async () => {
    const own = changed(
      ["loss_mode: vanilla", "loss_mode: my_loss"],
      ["  rescale: none", "  i_know_it_multiplies: true"],
    );
    expect(await checkFile(await scratchFile("own.yaml", own))).toMatchObject({ ok: true });
  });

  it("settings that are no plain values are noted and judge nothing", async () => {
    const odd = changed(
      ["loss_agg_mode: token-mean", `loss_agg_mode: \${oc.env:AGG}`],
      ["use_pf_ppo: false", "use_pf_ppo: maybe"],
    );
    const report = await checkFile(await scratchFile("odd.yaml", odd));
    if (!report.ok) throw new Error(JSON.stringify(report.problems));
    expect(report.notes.filter((note) => note.includes("not a plain value"))).toEqual([
      expect.stringContaining("actor_rollout_ref.actor.loss_agg_mode"),
      expect.stringContaining("algorithm.use_pf_ppo"),
    ]);
    expect(report.warnings).toContainEqual(expect.stringMatching(/magnitude: normalize auto is row, by the shape/));
  });
});
