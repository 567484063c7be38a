import { Client, type Run } from "dataflex-mq";
import { describe, expect, test } from "vitest";
import { advantageStep, REWEIGHT, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { rejection } from "../helpers/eventually.js";
import { useSystem } from "../helpers/system.js";

const system = useSystem({ workers: [{ slots: 1 }] });
const STAGE = "post_advantage";
/** What JavaScript lets through and TypeScript would not. */
const any = <T>(value: unknown): T => value as T;

const good = () => ({ ...advantageStep([1, 2]) });

/** Everything wrong that a put can be given: what, and a word of the answer. */
const BAD_PUTS: readonly [name: string, word: string, put: (run: Run) => Promise<unknown>][] = [
  ...[-1, 1.5, 2 ** 53, Number.NaN, "1", undefined, null].map((step): (typeof BAD_PUTS)[number] => [
    `step ${step}`,
    "step is",
    (run) => run.put(any(step), STAGE, good()),
  ]),
  ...[-1, 1.5, Number.NaN, "x", 2 ** 53].map((trigger): (typeof BAD_PUTS)[number] => [
    `trigger ${trigger}`,
    "trigger is",
    (run) => run.put(1, STAGE, good(), { trigger: any(trigger) }),
  ]),
  ...[-1, 0, Number.NaN, Number.POSITIVE_INFINITY, "100", 1e12].map((ms): (typeof BAD_PUTS)[number] => [
    `timeoutMs ${ms}`,
    "timeoutMs is",
    (run) => run.put(1, STAGE, good(), { timeoutMs: any(ms) }),
  ]),
  ["an unknown stage", "one of pre_rollout", (run) => run.put(1, any("post_rewrd"), good())],
  ["no stage", "stage is undefined", (run) => run.put(1, any(undefined), good())],
  ["__proto__ as stage", "stage is", (run) => run.put(1, any("__proto__"), good())],
  ["in_loss", "current policy", (run) => run.put(1, any("in_loss"), good())],
  ...[undefined, null, [], 5].map((fields): (typeof BAD_PUTS)[number] => [
    `fields ${fields}`,
    "fields",
    (run) => run.put(1, STAGE, any(fields)),
  ]),
  ["null as a field", "advantages", (run) => run.put(1, STAGE, any({ ...good(), advantages: null }))],
  ["one number a row", "(rows, L)", (run) => run.put(1, STAGE, { ...good(), response_mask: [1, 1] })],
  ["one string a row", "(rows, L)", (run) => run.put(1, STAGE, { ...good(), advantages: ["a", "b"] })],
  [
    "integers beyond 2^53",
    "2^53",
    (run) =>
      run.put(1, STAGE, {
        advantages: { data: new BigInt64Array([2n ** 60n, 1n]), shape: [2, 1] },
        response_mask: [[1], [1]],
      }),
  ],
  ["half a total", "total_rows", (run) => run.put(1, STAGE, good(), { total_rows: 2.5 })],
  ["rows that are no range", "not a range", (run) => run.put(1, STAGE, good(), { rows: any("ab"), total_rows: 2 })],
  ["keys that are a string", "keys is", (run) => run.put(1, STAGE, good(), { keys: any("ab") })],
  ["keys that are numbers", "keys is", (run) => run.put(1, STAGE, good(), { keys: any([1, 2]) })],
  [
    "keys and rows",
    "not by both",
    (run) => run.put(1, STAGE, good(), { keys: ["a", "b"], rows: [0, 2], total_rows: 2 }),
  ],
  ...[[3], [Number.NaN, 1], [1.5, 1], [-1, 1], ["1", "1"], "11", 2].map((lengths): (typeof BAD_PUTS)[number] => [
    `lengths ${JSON.stringify(lengths)}`,
    "lengths",
    (run) => run.put(1, STAGE, good(), { lengths: any(lengths) }),
  ]),
  ...[[true], ["false", "false"], [0.5, 0], {}, [undefined, true]].map((flags): (typeof BAD_PUTS)[number] => [
    `is_padding ${JSON.stringify(flags)}`,
    "is_padding",
    (run) => run.put(1, STAGE, good(), { is_padding: any(flags) }),
  ]),
];

describe("what JavaScript callers can get wrong", () => {
  test("a put is refused before anything travels, and the right one still goes through", async () => {
    const run = await system.mount(REWEIGHT);
    for (const [name, word, put] of BAD_PUTS) {
      const error = await rejection(Promise.resolve().then(() => put(run)));
      expect(error, name).toMatchObject({ code: "INVALID_INPUT", message: expect.stringContaining(word) });
    }
    const values = valuesOf(3);
    await run.put(1, STAGE, { ...advantageStep(values) });
    const { pipelines } = await run.weights(1, { timeoutMs: 15_000 });
    expect(worst(pipelines[0]!.weights, softmaxWeights(values))).toBeLessThan(1e-5);
  });

  test("row options of the wrong size are refused for keys in another order, too", async () => {
    const run = await system.mount(REWEIGHT);
    const { advantages, response_mask } = advantageStep([1, 2, 3, 4]);
    await run.put(1, STAGE, { response_mask }, { keys: ["a", "b", "c", "d"] });
    const keys = ["c", "a", "d", "b"];
    for (const short of [{ is_padding: [true] }, { lengths: [1] }]) {
      expect(await rejection(run.put(1, STAGE, { advantages }, { keys, ...short }))).toMatchObject({
        code: "INVALID_INPUT",
        message: expect.stringContaining("1 entries for 4 rows"),
      });
    }
  });

  test("weights: a deadline that is none never waits for ever", async () => {
    const run = await system.mount(REWEIGHT);
    for (const timeoutMs of [-1, Number.NaN, Number.POSITIVE_INFINITY, "100", 1e12]) {
      expect(await rejection(run.weights(1, { timeoutMs: any(timeoutMs) }))).toMatchObject({ code: "INVALID_INPUT" });
    }
    expect(await rejection(run.weights(1, { stages: any(["nope"]) }))).toMatchObject({ code: "INVALID_INPUT" });
    expect(await rejection(run.weights(1, { timeoutMs: 0 }))).toMatchObject({ code: "TIMEOUT" });
  });

  test("existing weights of live tokens must be weights, and their product one", async () => {
    const run = await system.mount(REWEIGHT);
    const step = advantageStep([1, 2]);
    await run.put(1, STAGE, { ...step });
    const result = await run.weights(1, { timeoutMs: 15_000 });
    const size = result.rolloutIsWeights(step.response_mask).length;
    for (const wrong of [Number.NaN, -1, Number.POSITIVE_INFINITY, 3e38]) {
      const existing = new Array(size).fill(wrong);
      expect(() => result.rolloutIsWeights(step.response_mask, existing)).toThrow(/row [01], column 0/);
    }
  });

  test("mount: options that are none, and a block that is data, are refused at once", async () => {
    const options = { run_id: "bad-options", dataflex: REWEIGHT, adv_estimator: "grpo" };
    const bad = [
      ...[undefined, "", 5].map((run_id) => ({ run_id })),
      ...[-1, 0, Number.NaN, Number.POSITIVE_INFINITY, "5"].map((timeoutMs) => ({ timeoutMs })),
      { provides: "advantages" },
      { provides: [1] },
      { adv_estimator: 5 },
      { adv_estimator: "" },
      { takeover: "no" },
      { mount_id: 5 },
      { mount_id: "" },
    ];
    const client = await system.client();
    for (const wrong of bad) {
      expect(await rejection(client.mount(any({ ...options, ...wrong }))), JSON.stringify(wrong)).toMatchObject({
        code: "INVALID_INPUT",
      });
    }
    expect(await rejection(client.mount(any(undefined)))).toMatchObject({ code: "INVALID_INPUT" });
    const data = { ...REWEIGHT, rows: "x".repeat(2 ** 21) };
    expect(await rejection(client.mount({ ...options, dataflex: data }))).toMatchObject({ code: "LIMIT" });
  });

  test("a client: no patience is refused, and after close everything says so", async () => {
    for (const connectTimeoutMs of [-1, Number.NaN, 0]) {
      expect(await rejection(Client.connect({ redisUrl: system.redis.url, connectTimeoutMs }))).toMatchObject({
        code: "INVALID_INPUT",
      });
    }
    const client = await Client.connect({ redisUrl: system.redis.url });
    await client.close();
    await client.close();
    expect(await rejection(client.mount({ run_id: "late", dataflex: REWEIGHT }))).toMatchObject({ code: "CLOSED" });
    expect(await rejection(client.attach("late"))).toMatchObject({ code: "CLOSED" });
  });
});
