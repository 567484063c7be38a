import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dataflexMq } from "../../../helpers/cli.js";

const REWEIGHT = `trainer: {v1: {trainer_mode: dataflex_sync}}
dataflex:
  mechanism: reweight
  scorer:   {name: advantage_magnitude}
  actuator: {name: softmax, params: {temperature: 1.0}}
`;
const SELECT = `dataflex:
  mechanism: select
  scorer:   {name: group_solve_rate, params: {success_threshold: 0.5}}
  actuator: {name: threshold_band, params: {low: 0.2, high: 0.8}}
`;
const VERL = `data: {train_batch_size: 64, train_files: "\${oc.env:DATA}/train.parquet"}
algorithm:
  adv_estimator: grpo
  use_kl_in_reward: false
actor_rollout_ref:
  rollout: {name: vllm, n: 5}
  actor: {optim: {lr: 1.0e-6}}
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "dfx-check-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function check(text: string, ...args: string[]) {
  await writeFile(join(folder, "c.yaml"), text);
  return dataflexMq(["check", "c.yaml", ...args], { cwd: folder });
}

describe("check", () => {
  it.each([
    [
      "the first block",
      REWEIGHT,
      /weights per row, mean one over rows[\s\S]*post_advantage[\s\S]*softmax {3}temperature = 1/,
    ],
    [
      "the second block",
      SELECT,
      /select: rows kept[\s\S]*post_reward[\s\S]*low = 0.2, high = 0.8[\s\S]*rm_scores \(response\), uid/,
    ],
    ["the first, in a whole verl file", VERL + REWEIGHT, /is fine: 1 pipeline, advantage estimator grpo/],
    ["the second, in a whole verl file", VERL + SELECT, /is fine: 1 pipeline, advantage estimator grpo/],
  ])("%s passes", async (_, text, shown) => {
    const { code, out, err } = await check(text);
    expect(err).toBe("");
    expect(code).toBe(0);
    expect(out).toMatch(shown);
  });

  it("names temperature, line and column for temprature", async () => {
    const { code, out, err } = await check(REWEIGHT.replace("temperature", "temprature"));
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toBe(
      "error[CONFIG] c.yaml:5:38  dataflex.actuator.params.temprature\n" +
        '  softmax has no parameter "temprature"; did you mean "temperature"?   known: temperature (number > 0, default 1)\n' +
        "1 problem in c.yaml. Nothing was started.\n",
    );
  });

  it.each([
    ["in the file", VERL.replace("grpo", "gae") + SELECT, []],
    ["on the command line, over the file's", VERL + SELECT, ["--adv-estimator", "AdvantageEstimator.GAE"]],
  ])("refuses group_solve_rate under gae %s and says why", async (_, text, args) => {
    const { code, err } = await check(text, ...args);
    expect(code).toBe(2);
    expect(err).toMatch(
      /scorer "group_solve_rate" compares the rows of a group, but the advantage estimator "gae" has no groups/,
    );
    expect(err).toMatch(/use an estimator with groups \(grpo, /);
  });

  it("reports everything at once, for programs too", async () => {
    const bad = VERL.replace("n: 5", "n: 1") + SELECT.replace("low:", "lo:").replace("select", "selekt");
    const { code, err } = await check(bad);
    expect(code).toBe(2);
    expect(err.match(/^error\[CONFIG\] c\.yaml:\d+:\d+ {2}dataflex/gm)).toHaveLength(3);
    const json = await check(bad, "--json");
    expect(json).toMatchObject({ code: 2, err: "" });
    const report = JSON.parse(json.out);
    expect(report).toMatchObject({ ok: false, file: "c.yaml" });
    expect(report.problems.map((p: { path: string[]; line: number }) => [p.path.join("."), p.line])).toEqual([
      ["dataflex.mechanism", 9],
      ["dataflex.actuator.params.lo", 11],
      ["dataflex.scorer.name", 10],
    ]);
  });

  it("prints the resolved mount as JSON, before or after the command, without passwords", async () => {
    const text = `${VERL}${SELECT}  redis_url: redis://me:secret@10.0.0.7:6379\n`;
    const { code, out } = await check(text, "--json");
    expect(code).toBe(0);
    expect(out).not.toContain("secret");
    expect(JSON.parse(out)).toMatchObject({
      ok: true,
      adv_estimator: "grpo",
      group_size: 5,
      stages: { post_reward: [{ name: "response_mask" }, { name: "rm_scores" }, { name: "uid" }] },
      run: { redis_url: "redis://me:***@10.0.0.7:6379" },
    });
    expect((await dataflexMq(["--json", "check", "c.yaml"], { cwd: folder })).out).toBe(out);
  });

  it("reads JSON", async () => {
    const file = join(folder, "c.json");
    await writeFile(
      file,
      JSON.stringify(
        {
          dataflex: { mechanism: "reweight", scorer: { name: "token_prob" }, actuator: { name: "advantage_reweight" } },
        },
        null,
        "\t",
      ),
    );
    expect((await dataflexMq(["check", file, "--adv-estimator", "gae"])).code).toBe(0);
  });

  it.each([
    ["an empty file", "", /c\.yaml:1:1\n {2}the file is empty/],
    ["a list", "- a\n", /c\.yaml:1:1\n {2}the file must hold a mapping/],
    ["broken YAML", "dataflex:\n  scorer: {name: x\nmore: 1\n", /c\.yaml:3:1\n {2}not readable as YAML or JSON/],
    [
      "a hostile key",
      'dataflex: {"__proto__": {mechanism: select}}\n',
      /c\.yaml:1:12 {2}dataflex\.__proto__\n {2}the dataflex block has no option "__proto__"/,
    ],
  ])("refuses %s", async (_, text, message) => {
    const { code, out, err } = await check(text);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(message);
  });

  it("says why a file cannot be read", async () => {
    const { code, err } = await dataflexMq(["check", "absent.yaml"], { cwd: folder });
    expect({ code, err }).toEqual({ code: 2, err: "error[CONFIG] cannot read absent.yaml: there is no such file\n" });
  });

  it("passes the shipped recipes and the default file", async () => {
    const config = fileURLToPath(new URL("../../../../config/", import.meta.url));
    const recipes = (await readdir(join(config, "recipes"))).map((name) => join(config, "recipes", name));
    expect(recipes.length).toBeGreaterThanOrEqual(3);
    for (const file of [...recipes, join(config, "default.yaml")]) {
      expect(await dataflexMq(["check", file])).toMatchObject({ code: 0, err: "" });
    }
  });
});
