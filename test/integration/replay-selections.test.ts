import { describe, expect, test } from "vitest";
import { connect } from "../../src/redis/connect.js";
import { QUEUE_PREFIX } from "../../src/redis/keys.js";
import { scanKeys } from "../../src/redis/scan-keys.js";
import { expectClose } from "../helpers/close.js";
import { recordedF } from "../helpers/fixture-f.js";
import { block, replays, rowsOf } from "../helpers/replays.js";

/** The catalogue's numbers for selectors and composition, through real Redis, broker and worker; and proof that it was those. */
const replay = replays();

describe("selectors", () => {
  const kept = async (
    step: unknown,
    scorer: readonly [string, object?],
    actuator: readonly [string, object?],
  ): Promise<number[] | undefined> => (await replay.answer(step, block("select", scorer, actuator))).pipelines[0]!.kept;

  test("threshold_band on fixture F", async () => {
    const rate: [string] = ["group_solve_rate"];
    expect(await kept(recordedF(), rate, ["threshold_band"])).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await kept(recordedF(), rate, ["threshold_band", { low: 0.6, high: 0.8 }])).toEqual([4, 5, 6, 7]);
  });

  test("threshold_band is strict at its ends, closed on request; a rate of 1/5 is outside a strict band from 0.2", async () => {
    const rates = [0, 1, 2, 3, 4, 5].flatMap((solved) => Array.from({ length: 5 }, (_, i) => (i < solved ? 1 : 0)));
    const step = { ...rowsOf(rates), uid: rates.map((_, i) => `q${Math.floor(i / 5)}`), adv_estimator: "grpo" };
    const groups = (found: number[] | undefined): number[] => [...new Set(found?.map((row) => Math.floor(row / 5)))];
    const band = (more: object): [string, object] => ["threshold_band", { low: 0.2, high: 0.8, ...more }];
    expect(groups(await kept(step, ["group_solve_rate"], band({})))).toEqual([2, 3]);
    expect(groups(await kept(step, ["group_solve_rate"], band({ closed: "both" })))).toEqual([1, 2, 3, 4]);
  });

  test("topk_fraction: ties to the lower row, k half to even", async () => {
    expect(await kept(recordedF(), ["advantage_magnitude"], ["topk_fraction", { fraction: 0.5 }])).toEqual([
      0, 1, 2, 7,
    ]);
    expect(await kept(rowsOf([3, 1, 4, 1, 5]), ["reward_difficulty"], ["topk_fraction", { fraction: 0.5 }])).toEqual([
      2, 4,
    ]);
    const counts = [];
    for (const [n, fraction] of [
      [7, 0.5],
      [5, 0.3],
      [5, 0.1],
    ] as const) {
      const step = rowsOf(Array.from({ length: n }, (_, i) => i));
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
    const answer = await replay.answer(recordedF(), { pipelines, rescale });
    expect(answer.pipelines.map((p) => p.kept)).toEqual([[0, 1, 2, 3], undefined]);
    expectClose(answer.combined.flat(), [want, want, want, want, 0, 0, 0, 0]);
  });
});

describe("what is not finite", () => {
  const softmax = block("reweight", ["advantage_magnitude"], ["softmax"]);

  test("NaN inside the mask is refused with row and column, and no weights are printed", async () => {
    const step = recordedF();
    step.fields.advantages![2]![1] = null;
    const { code, out, err } = await replay.run(step, softmax);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/NON_FINITE.*advantages.*row 2.*column 1/s);
  });

  test("NaN under mask 0 changes nothing", async () => {
    const step = recordedF();
    const clean = await replay.weights(step, softmax);
    for (const [name, values] of Object.entries(step.fields)) values[4]!.push(name === "response_mask" ? 0 : null);
    step.fields.rm_scores![4] = [1, 0];
    expect(await replay.weights(step, softmax)).toEqual(clean);
  });
});

test("evidence: another process than replay's, a job that BullMQ completed, entries in this server's streams", async () => {
  const { evidence, step } = await replay.answer(recordedF(), block("reweight", ["advantage_magnitude"], ["softmax"]));
  expect(step).toBe(3);
  expect(evidence.worker_pid).toBe(replay.fleet.workers[0]!.pid);
  expect(evidence.job_ids).toHaveLength(1);
  expect(evidence.stream_entries).toBeGreaterThanOrEqual(2);
  const redis = await connect(replay.fleet.url, "command", { name: "test" });
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
