import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../src/redis/connect.js";
import { QUEUE_PREFIX } from "../../src/redis/keys.js";
import { scanKeys } from "../../src/redis/scan.js";
import { dataflexMq } from "../helpers/cli.js";
import { expectClose } from "../helpers/close.js";
import { fixtureF, recordedF } from "../helpers/fixture-f.js";
import { type Fleet, startFleet } from "../helpers/fleet.js";

/** The catalogue's numbers, through real Redis, broker and worker: one fleet serves every replay of this file. */
let fleet: Fleet;
let folder: string;
let files = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dfx-replay-"));
  fleet = await startFleet({ brokers: 1, workers: 1 });
});
afterAll(async () => {
  await fleet.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Pipeline {
  weights: number[] & number[][];
  kept?: number[];
  metrics: Record<string, number>;
  warnings: string[];
}
interface Answer {
  step: number;
  pipelines: Pipeline[];
  combined: number[] & number[][];
  evidence: { redis_run_id: string; stream_entries: number; job_ids: string[]; worker_pid: number };
}

function write(value: unknown): string {
  const file = join(folder, `${++files}.json`);
  writeFileSync(file, JSON.stringify(value));
  return file;
}

async function replayed(step: unknown, dataflex: unknown): Promise<Answer> {
  const args = [
    "replay",
    write(step),
    "--config",
    write({ dataflex }),
    "--redis",
    fleet.url,
    "--timeout-ms",
    "20000",
    "--json",
  ];
  const { code, out, err } = await dataflexMq(args);
  expect(err).toBe("");
  expect(code).toBe(0);
  return JSON.parse(out) as Answer;
}

const block = (
  mechanism: string,
  scorer: [string, object?],
  actuator: [string, object?],
  more: object = {},
): object => ({
  mechanism,
  scorer: { name: scorer[0], params: scorer[1] ?? {} },
  actuator: { name: actuator[0], params: actuator[1] ?? {} },
  ...more,
});

async function weightsOf(step: unknown, dataflex: object): Promise<number[]> {
  return (await replayed(step, dataflex)).pipelines[0]!.weights.flat();
}

/** One row a reward, each of one token. */
const rows = (rewards: readonly number[]): object => ({
  fields: { rm_scores: rewards.map((r) => [r]), response_mask: rewards.map(() => [1]) },
});

/** A float32 weight is right to 6e-8 of itself, so is its logarithm in absolute terms; two of them enter a score. */
const LOG_TOLERANCE = 2e-6;

/** Scores, read off unnormalised softmax weights: their logarithms, up to one constant, which `first` fixes. */
async function scoresOf(step: unknown, scorer: [string, object?], first: number): Promise<number[]> {
  const weights = await weightsOf(step, block("reweight", scorer, ["softmax"], { normalize: "none" }));
  return weights.map((w) => Math.log(w) - Math.log(weights[0]!) + first);
}

describe("scorers", () => {
  test("advantage_magnitude: mean, sum and max over the tokens", async () => {
    const size = fixtureF.advantages.map(Math.abs);
    const sums = [3.464096, 2.598072, 1.732048, 3.464096, 0.499999, 1.499997, 1.999996, 2.999994];
    expectClose(await scoresOf(recordedF(), ["advantage_magnitude"], size[0]!), size, LOG_TOLERANCE);
    expectClose(await scoresOf(recordedF(), ["advantage_magnitude", { agg: "max" }], size[0]!), size, LOG_TOLERANCE);
    expectClose(await scoresOf(recordedF(), ["advantage_magnitude", { agg: "sum" }], sums[0]!), sums, LOG_TOLERANCE);
  });

  test("a fully masked row scores nothing, weighs nothing and counts for nothing, whatever its advantages", async () => {
    const step = recordedF();
    for (const [name, values] of Object.entries(step.fields)) values.push([name === "advantages" ? 50 : 0]);
    const got = await weightsOf(
      { ...step, uid: [...step.uid, "c"] },
      block("reweight", ["advantage_magnitude"], ["softmax"]),
    );
    expectClose(got, [1.004326, 1.004326, 1.004326, 1.004326, 0.696485, 0.696485, 0.696485, 1.89324, 0]);
  });

  test("reward_difficulty and group_solve_rate", async () => {
    expectClose(await scoresOf(recordedF(), ["reward_difficulty"], 1), fixtureF.rewards, LOG_TOLERANCE);
    expectClose(
      await scoresOf(recordedF(), ["group_solve_rate"], 0.5),
      [0.5, 0.5, 0.5, 0.5, 0.75, 0.75, 0.75, 0.75],
      LOG_TOLERANCE,
    );
  });

  test("token_prob: the tokens' probabilities", async () => {
    const weights = await replayed(
      recordedF(),
      block("reweight", ["token_prob"], ["advantage_reweight", { alpha: 1 }], { normalize: "none" }),
    );
    const got: readonly (readonly number[])[] = weights.pipelines[0]!.weights;
    expect(got.map((row) => row.length)).toEqual(fixtureF.lengths);
    expectClose(got.flat(), fixtureF.probabilities.flat());
  });

  test("a reward on a masked last token: lost and warned about, or kept on request", async () => {
    const step = {
      fields: {
        rm_scores: [
          [0, 0, 1],
          [0, 0, 0.5],
        ],
        response_mask: [
          [1, 1, 0],
          [1, 1, 1],
        ],
      },
    };
    const masked = await replayed(step, block("select", ["reward_difficulty"], ["topk_fraction", { fraction: 0.5 }]));
    expect(masked.pipelines[0]!.kept).toEqual([1]);
    expect(masked.pipelines[0]!.warnings.join()).toMatch(/mask_reward/);
    const all = await replayed(
      step,
      block("select", ["reward_difficulty", { mask_reward: false }], ["topk_fraction", { fraction: 0.5 }]),
    );
    expect(all.pipelines[0]!.kept).toEqual([0]);
  });
});

describe("softmax", () => {
  const logs = rows([1, 2, 3, 4].map(Math.log));
  test.each([
    [1, [0.4, 0.8, 1.2, 1.6]],
    [0.5, [0.133333, 0.533333, 1.2, 2.133333]],
    [2, [0.650802, 0.920373, 1.127222, 1.301604]],
  ])("ln 1 … ln 4 at temperature %d", async (temperature, want) => {
    expectClose(await weightsOf(logs, block("reweight", ["reward_difficulty"], ["softmax", { temperature }])), want);
  });

  test("fixture F: mean one over rows, or over tokens", async () => {
    const softmax = (normalize?: string): object =>
      block("reweight", ["advantage_magnitude"], ["softmax"], normalize ? { normalize } : {});
    const [a, b, c] = [1.004326, 0.696485, 1.89324];
    expectClose(await weightsOf(recordedF(), softmax()), [a, a, a, a, b, b, b, c]);
    const [d, e, f] = [1.030556, 0.714676, 1.942686];
    expectClose(await weightsOf(recordedF(), softmax("token")), [d, d, d, d, e, e, e, f]);
  });

  test("padding rows count nowhere and get weight 0", async () => {
    const step = recordedF();
    for (const values of Object.values(step.fields)) values.push([0], [0]);
    const padded = {
      ...step,
      uid: [...step.uid, "pad", "pad"],
      is_padding: [...step.uid.map(() => false), true, true],
    };
    const [a, b, c] = [1.004326, 0.696485, 1.89324];
    expectClose(await weightsOf(padded, block("reweight", ["advantage_magnitude"], ["softmax"])), [
      a,
      a,
      a,
      a,
      b,
      b,
      b,
      c,
      0,
      0,
    ]);
  });
});

test("advantage_reweight on fixture F", async () => {
  const want = [
    1.252149, 0.988539, 0.790831, 0.922636, 1.186246, 0.724928, 1.054441, 0.988539, 0.988539, 0.823782, 1.153295,
    0.988539, 1.318052, 0.856734, 1.054441, 1.252149, 0.856734, 0.790831, 0.922636, 1.186246, 1.054441, 1.120344,
    0.724928,
  ];
  expectClose(await weightsOf(recordedF(), block("reweight", ["token_prob"], ["advantage_reweight"])), want);
});

describe("selectors", () => {
  const kept = async (
    step: unknown,
    scorer: [string, object?],
    actuator: [string, object?],
  ): Promise<number[] | undefined> => (await replayed(step, block("select", scorer, actuator))).pipelines[0]!.kept;

  test("threshold_band on fixture F", async () => {
    const rate: [string] = ["group_solve_rate"];
    expect(await kept(recordedF(), rate, ["threshold_band"])).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await kept(recordedF(), rate, ["threshold_band", { low: 0.6, high: 0.8 }])).toEqual([4, 5, 6, 7]);
  });

  test("threshold_band is strict at its ends, closed on request; a rate of 1/5 is outside a strict band from 0.2", async () => {
    const rates = [0, 1, 2, 3, 4, 5].flatMap((solved) => Array.from({ length: 5 }, (_, i) => (i < solved ? 1 : 0)));
    const step = { ...rows(rates), uid: rates.map((_, i) => `q${Math.floor(i / 5)}`), adv_estimator: "grpo" };
    const groups = (found: number[] | undefined): number[] => [...new Set(found?.map((row) => Math.floor(row / 5)))];
    const band = (more: object): [string, object] => ["threshold_band", { low: 0.2, high: 0.8, ...more }];
    expect(groups(await kept(step, ["group_solve_rate"], band({})))).toEqual([2, 3]);
    expect(groups(await kept(step, ["group_solve_rate"], band({ closed: "both" })))).toEqual([1, 2, 3, 4]);
  });

  test("topk_fraction: ties to the lower row, k half to even", async () => {
    expect(await kept(recordedF(), ["advantage_magnitude"], ["topk_fraction", { fraction: 0.5 }])).toEqual([
      0, 1, 2, 7,
    ]);
    expect(await kept(rows([3, 1, 4, 1, 5]), ["reward_difficulty"], ["topk_fraction", { fraction: 0.5 }])).toEqual([
      2, 4,
    ]);
    const counts = [];
    for (const [n, fraction] of [
      [7, 0.5],
      [5, 0.3],
      [5, 0.1],
    ] as const) {
      const step = rows(Array.from({ length: n }, (_, i) => i));
      counts.push((await kept(step, ["reward_difficulty"], ["topk_fraction", { fraction }]))?.length);
    }
    expect(counts).toEqual([4, 2, 1]);
  });
});

describe("composition of a selection with a softmax", () => {
  const pipelines = {
    half: block("select", ["group_solve_rate"], ["threshold_band", { low: 0.25, high: 0.6 }]),
    size: block("reweight", ["advantage_magnitude"], ["softmax"]),
  };
  test.each([
    ["none", 1.004326],
    ["row", 2],
    ["token", 1.769231],
  ])("rescale %s", async (rescale, want) => {
    const answer = await replayed(recordedF(), { pipelines, rescale });
    expect(answer.pipelines.map((p) => p.kept)).toEqual([[0, 1, 2, 3], undefined]);
    expectClose(answer.combined.flat(), [want, want, want, want, 0, 0, 0, 0]);
  });
});

describe("what is not finite", () => {
  const softmax = block("reweight", ["advantage_magnitude"], ["softmax"]);

  test("NaN inside the mask is refused with row and column, and no weights are printed", async () => {
    const step = recordedF();
    step.fields.advantages![2]![1] = null;
    const args = ["replay", write(step), "--config", write({ dataflex: softmax }), "--redis", fleet.url];
    const { code, out, err } = await dataflexMq(args);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/NON_FINITE.*advantages.*row 2.*column 1/s);
  });

  test("NaN under mask 0 changes nothing", async () => {
    const step = recordedF();
    const clean = await weightsOf(step, softmax);
    for (const [name, values] of Object.entries(step.fields)) values[4]!.push(name === "response_mask" ? 0 : null);
    step.fields.rm_scores![4] = [1, 0];
    expect(await weightsOf(step, softmax)).toEqual(clean);
  });
});

test("evidence: another process than replay's, a job that BullMQ completed, entries in this server's streams", async () => {
  const { evidence, step } = await replayed(recordedF(), block("reweight", ["advantage_magnitude"], ["softmax"]));
  expect(step).toBe(3);
  expect(evidence.worker_pid).toBe(fleet.workers[0]!.pid);
  expect(evidence.job_ids).toHaveLength(1);
  expect(evidence.stream_entries).toBeGreaterThanOrEqual(2);
  const redis = await connect(fleet.url, "command", { name: "test" });
  try {
    expect(await redis.info("server")).toContain(`run_id:${evidence.redis_run_id}`);
    const streams = await scanKeys(redis, QUEUE_PREFIX, "stream");
    const events = (await Promise.all(streams.map((key) => redis.xrange(key, "-", "+"))))
      .flat()
      .map(([, fields]) => fields.join(" "));
    const [id] = evidence.job_ids;
    expect(events.filter((event) => event.includes("event completed") && event.includes(id!))).toHaveLength(1);
  } finally {
    redis.disconnect();
  }
});
