import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../src/redis/connect.js";
import { startPrivateRedis } from "../../src/redis/private-server.js";
import { dataflexMq } from "../helpers/cli.js";
import { isAlive, startFleet } from "../helpers/fleet.js";

const example = (name: string): string => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
const SOLVE_RATE = example("solve-rate.yaml");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "dfx-replay-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, content: unknown): string {
  const file = join(folder, name);
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}
const jsonl = (name: string, lines: readonly object[]): string =>
  write(name, lines.map((line) => JSON.stringify(line)).join("\n"));

describe("with everything started for it", () => {
  test("the recorded GSM8K rollouts: 1412 of 2640 rows kept, and nothing left behind", async () => {
    const private_ = mkdtempSync(join(tmpdir(), "dfx-tmp-"));
    const args = ["replay", example("data/gsm8k_rollouts.jsonl"), "--config", SOLVE_RATE, "--json"];
    const { code, out, err } = await dataflexMq(args, { env: { TMPDIR: private_ } });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const { pipelines, combined, evidence } = JSON.parse(out);
    expect(pipelines[0].kept).toHaveLength(1412);
    expect(pipelines[0].weights).toHaveLength(2640);
    expect(combined.filter((w: number) => w === 1)).toHaveLength(1412);
    expect(combined.filter((w: number) => w === 0)).toHaveLength(2640 - 1412);
    expect(isAlive(evidence.worker_pid)).toBe(false);
    expect(readdirSync(private_)).toEqual([]);
    rmSync(private_, { recursive: true });
  });

  test("rollouts as verl writes them: groups by the first part of the name, padding rows weigh nothing", async () => {
    const pad = `pad${"0".repeat(32)}`;
    const row = (uid: string, score: number): object => ({
      input: "?",
      output: "a b c",
      gts: "x",
      score,
      step: 5,
      uid,
    });
    const file = jsonl("5.jsonl", [
      row("p_0_0_0", 1),
      row("p_0_1_0", 0), // p_0: mixed
      row("p_1_0_0", 1),
      row("p_1_1_0", 1), // p_1: all right
      row(`${pad}_0_0`, 0),
      row(`${pad}_1_0`, 1),
    ]);
    const { code, out } = await dataflexMq(["replay", file, "--config", SOLVE_RATE, "--json"]);
    expect(code).toBe(0);
    const { step, pipelines, combined } = JSON.parse(out);
    expect({ step, kept: pipelines[0].kept, combined }).toEqual({
      step: 5,
      kept: [0, 1],
      combined: [1, 1, 0, 0, 0, 0],
    });
  });

  test("for people: pipelines, rows, and where it ran", async () => {
    const file = jsonl(
      "people.jsonl",
      [0, 1].map((score) => ({ uid: "q", score, response_length: 2 })),
    );
    const config = write(
      "bare.yaml",
      "mechanism: select\nscorer: {name: group_solve_rate}\nactuator: {name: threshold_band}\n",
    );
    const { code, out } = await dataflexMq(["replay", file, "--config", config]);
    expect(code).toBe(0);
    expect(out).toMatch(/grpo is assumed/);
    expect(out).toMatch(/pipeline main: select, post_reward/);
    expect(out).toMatch(/kept +2 rows/);
    expect(out).toMatch(/1 job on worker process \d+/);
  });
});

describe("wrong input and configuration: exit 2 before anything is started", () => {
  const rollouts = (): string =>
    jsonl(
      "ok.jsonl",
      [0, 1].map((score) => ({ uid: "q", score, response_length: 2 })),
    );
  const config = (scorer: object, actuator: object, mechanism = "select"): string =>
    write("config.json", { algorithm: { adv_estimator: "grpo" }, dataflex: { mechanism, scorer, actuator } });
  const refused = async (args: string[], message: RegExp): Promise<void> => {
    const { code, out, err } = await dataflexMq(args);
    expect(err).toMatch(message);
    expect({ code, out }).toEqual({ code: 2, out: "" });
  };

  test("a misspelt parameter, with the right one", async () => {
    const softmax = config({ name: "reward_difficulty" }, { name: "softmax", params: { temprature: 1 } }, "reweight");
    await refused(["replay", rollouts(), "--config", softmax], /temprature.*temperature/s);
  });

  test("a group scorer under an estimator without groups", async () => {
    await refused(["replay", rollouts(), "--config", SOLVE_RATE, "--adv-estimator", "gae"], /group_solve_rate.*gae/s);
  });

  test("a group scorer on a file without one group of two", async () => {
    const alone = jsonl(
      "alone.jsonl",
      ["a", "b"].map((uid) => ({ uid, score: 1, response_length: 2 })),
    );
    await refused(["replay", alone, "--config", SOLVE_RATE], /no group of two/);
    const nameless = jsonl("nameless.jsonl", [{ score: 1, response_length: 2 }]);
    await refused(["replay", nameless, "--config", SOLVE_RATE], /no group of two|uid/);
  });

  test("a field that the file lacks; files that are not there or not JSON", async () => {
    const magnitude = config({ name: "advantage_magnitude" }, { name: "softmax" }, "reweight");
    await refused(["replay", rollouts(), "--config", magnitude], /advantages/);
    await refused(["replay", "/nowhere.json", "--config", SOLVE_RATE], /no such file/);
    await refused(["replay", rollouts(), "--config", "/nowhere.yaml"], /no such file/);
    await refused(["replay", write("bad.jsonl", "{}\n{"), "--config", SOLVE_RATE], /line 1 has no "score"/);
    await refused(["replay", rollouts()], /--config/);
  });
});

describe("on a Redis of the user's", () => {
  const rollouts = (): string =>
    jsonl(
      "shared.jsonl",
      [0, 1].map((score) => ({ uid: "q", score, response_length: 2 })),
    );

  test("without services there: its own are started, and no key stays", async () => {
    const redis = await startPrivateRedis();
    try {
      const { code, out } = await dataflexMq([
        "replay",
        rollouts(),
        "--config",
        SOLVE_RATE,
        "--redis",
        redis.url,
        "--json",
      ]);
      expect(code).toBe(0);
      expect(JSON.parse(out).pipelines[0].kept).toEqual([0, 1]);
      const look = await connect(redis.url, "command", { name: "test" });
      expect(await look.keys("*")).toEqual([]);
      look.disconnect();
    } finally {
      await redis.stop();
    }
  });

  test("with services there: they serve it, and none of its run's keys stay", async () => {
    const fleet = await startFleet({ brokers: 1, workers: 1 });
    try {
      const { code, out } = await dataflexMq([
        "replay",
        rollouts(),
        "--config",
        SOLVE_RATE,
        "--redis",
        fleet.url,
        "--json",
      ]);
      expect(code).toBe(0);
      expect(JSON.parse(out).evidence.worker_pid).toBe(fleet.workers[0]!.pid);
      const look = await connect(fleet.url, "command", { name: "test" });
      expect((await look.keys("*")).filter((key) => key.includes("replay-"))).toEqual([]);
      look.disconnect();
    } finally {
      await fleet.stop();
    }
  });

  test("without a worker: exit 1 within the deadline, and no weights", async () => {
    const fleet = await startFleet({ brokers: 1, workers: 0 });
    try {
      const args = [
        "replay",
        rollouts(),
        "--config",
        SOLVE_RATE,
        "--redis",
        fleet.url,
        "--timeout-ms",
        "3000",
        "--json",
      ];
      const started = performance.now();
      const { code, out, err } = await dataflexMq(args);
      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(JSON.parse(err).error.code).toBe("NO_WORKER");
      expect(performance.now() - started).toBeLessThan(8_000);
    } finally {
      await fleet.stop();
    }
  });

  test("with the only worker stopped: exit 1 within the deadline, and no weights", async () => {
    const fleet = await startFleet({ brokers: 1, workers: 1 });
    try {
      fleet.workers[0]!.kill("SIGSTOP");
      const args = [
        "replay",
        rollouts(),
        "--config",
        SOLVE_RATE,
        "--redis",
        fleet.url,
        "--timeout-ms",
        "3000",
        "--json",
      ];
      const started = performance.now();
      const { code, out, err } = await dataflexMq(args);
      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(JSON.parse(err).error.code).toMatch(/TIMEOUT|NO_WORKER/);
      expect(performance.now() - started).toBeLessThan(10_000);
    } finally {
      await fleet.stop();
    }
  });

  test("nobody at the address: exit 3", async () => {
    const { code, out } = await dataflexMq([
      "replay",
      rollouts(),
      "--config",
      SOLVE_RATE,
      "--redis",
      "redis://127.0.0.1:1",
    ]);
    expect({ code, out }).toEqual({ code: 3, out: "" });
  });
});
