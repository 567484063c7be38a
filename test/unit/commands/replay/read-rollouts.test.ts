import { describe, expect, test } from "vitest";
import { hasGroupOfTwo } from "../../../../src/commands/replay/plan.js";
import { readStep } from "../../../../src/commands/replay/read-input.js";
import { expectRefused, fileWith, rollouts } from "./helpers.js";

const read = (lines: readonly unknown[]): ReturnType<typeof readStep> => readStep(rollouts("rollouts.jsonl", lines));
const pad = `pad${"0123456789abcdef".repeat(2)}`;

describe("rollouts, one a line", () => {
  test("the reward lies on the last token, the mask covers the response", async () => {
    const step = await read([
      { score: 1, response_length: 3, uid: "q", domain: "math", whatever: [1] },
      { score: -0.5, output: " two\twords\n", uid: "q", domain: "code" },
    ]);
    expect(step).toEqual({
      step: 1,
      rows: 2,
      fields: {
        rm_scores: {
          kind: "jagged",
          dtype: "f32",
          lengths: Int32Array.of(3, 2),
          width: 3,
          data: Float32Array.of(0, 0, 1, 0, -0.5),
        },
        response_mask: {
          kind: "jagged",
          dtype: "u8",
          lengths: Int32Array.of(3, 2),
          width: 3,
          data: new Uint8Array(5).fill(1),
        },
      },
      lengths: Int32Array.of(3, 2),
      uid: ["q", "q"],
      domain: ["math", "code"],
    });
    expect(hasGroupOfTwo(step)).toBe(true);
  });

  test("blank lines and CRLF are passed over; a score may be NaN", async () => {
    const step = await read(['{"score": NaN, "response_length": 1}\r', "", '{"score": 1, "response_length": 1}', ""]);
    expect(step.fields.rm_scores).toMatchObject({ data: Float32Array.of(Number.NaN, 1) });
  });

  test("an answer of no tokens is one masked token that keeps its reward", async () => {
    const step = await read([
      { score: 2, output: "  " },
      { score: 1, response_length: 2 },
    ]);
    expect(step.fields).toMatchObject({
      rm_scores: { data: Float32Array.of(2, 0, 1) },
      response_mask: { data: Uint8Array.of(0, 1, 1) },
    });
  });

  test("without uid, equal inputs make a group", async () => {
    const step = await read(["a", "b", "a"].map((input) => ({ input, score: 0, response_length: 1 })));
    expect(step.uid).toEqual(["input-0", "input-1", "input-0"]);
    const alone = await read(["a", "b"].map((input) => ({ input, score: 0, response_length: 1 })));
    expect(hasGroupOfTwo(alone)).toBe(false);
    expect((await read([{ score: 0, response_length: 1 }])).uid).toBeUndefined();
  });

  test("the step of the lines is the step; two steps in one file are refused", async () => {
    expect((await read([{ score: 0, response_length: 1, step: 9 }])).step).toBe(9);
    const two = [8, 9].map((step) => ({ score: 0, response_length: 1, step }));
    await expectRefused(read(two), /line 2 is of step 9, line 1 of step 8/);
  });
});

test("what every line says as a number is a field of one number a row; what it says otherwise is ignored", async () => {
  const row = { score: 1, response_length: 2, note: "x" };
  const { fields } = await read([
    { ...row, acc: true, turns: 3, odd: 1, text: "a" },
    { ...row, acc: 0.5, turns: null, odd: "b", text: "b", late: 1 },
  ]);
  expect(Object.keys(fields)).toEqual(["acc", "turns", "rm_scores", "response_mask"]);
  expect(fields).toMatchObject({ acc: { shape: [2], data: Float64Array.of(1, 0.5) } });
  expect(fields.turns).toMatchObject({ data: Float64Array.of(3, Number.NaN) });
});

describe("verl's names of rows", () => {
  const named = (uids: string[]): ReturnType<typeof readStep> =>
    read(uids.map((uid) => ({ uid, score: 1, response_length: 2 })));

  test("{uid}_{session}_{index} in every row: group and session are parts, pad groups are padding", async () => {
    const step = await named(["u_1_0_0", "u_1_0_1", "u_1_1_0", `${pad}_0_0`, `${pad}_1_0`]);
    expect(step.uid).toEqual(["u_1", "u_1", "u_1", pad, pad]);
    expect(step.session).toEqual(["0", "0", "1", "0", "1"]);
    expect(step.session_index).toEqual(Int32Array.of(0, 1, 0, 0, 0));
    expect(step.is_padding).toEqual(Uint8Array.of(0, 0, 0, 1, 1));
    expect(step.fields.response_mask).toMatchObject({ data: Uint8Array.of(1, 1, 1, 1, 1, 1, 0, 0, 0, 0) });
  });

  test("one row that does not fit, and no name is taken apart", async () => {
    const step = await named(["u_0_0", "u_0_1", "u_0"]);
    expect(step.uid).toEqual(["u_0_0", "u_0_1", "u_0"]);
    expect(step.session).toBeUndefined();
  });

  test("a last number above 2^31 is part of somebody's own id", async () => {
    expect((await named(["u_0_1733011200000", "u_1_1733011200001"])).uid).toEqual([
      "u_0_1733011200000",
      "u_1_1733011200001",
    ]);
  });

  test("sessions of the file's own come with indices of its own, or none", async () => {
    const row = { score: 1, response_length: 2 };
    const own = await read([
      { ...row, uid: "u_0_0", session: "x" },
      { ...row, uid: "u_0_1", session: "y" },
    ]);
    expect([own.session, own.session_index]).toEqual([["x", "y"], undefined]);
    const indexed = await read([
      { ...row, uid: "u", session: "x", session_index: 4 },
      { ...row, uid: "u", session: "x", session_index: 2 },
    ]);
    expect(indexed.session_index).toEqual(Int32Array.of(4, 2));
    await expect(
      read([
        { ...row, session: "x", session_index: 4 },
        { ...row, session: "x" },
      ]),
    ).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("line 2: session_index"),
    });
  });

  test("padding rows are no group of two; similar names are no padding", async () => {
    expect(hasGroupOfTwo(await named([`${pad}_0_0`, `${pad}_1_0`, "u_0_0"]))).toBe(false);
    expect((await named([`${pad}0`, "pad", `x${pad}`])).is_padding).toBeUndefined();
    expect((await named([pad, "u"])).is_padding).toEqual(Uint8Array.of(1, 0));
  });
});

describe("what is refused names the line", () => {
  const ok = { score: 0, response_length: 1 };
  test.each([
    ["not JSON", [ok, "{score: 1}"], /line 2 is not JSON/],
    ["line numbers count blank lines", [ok, "", "[]"], /line 3 is \[\], not an object/],
    ["no score", [ok, { response_length: 1 }], /line 2 has no "score"/],
    ["a score of text", [{ ...ok, score: "high" }], /line 1: score is "high"/],
    ["no length", [{ score: 1 }], /line 1 has neither "response_length" nor "output"/],
    ["a negative length", [{ score: 1, response_length: -1 }], /line 1: response_length is -1/],
    ["an output of numbers", [{ score: 1, output: [1] }], /line 1: output is \[1\]/],
    ["a uid only in some", [{ ...ok, uid: "a" }, ok], /line 2 has no "uid", which other lines have/],
    ["a uid that is no text", [{ ...ok, uid: {} }], /line 1: uid is \{\}, neither a string/],
    ["a padding flag of text", [{ ...ok, is_padding: "yes" }], /line 1: is_padding is "yes"/],
    ["nothing", ["", " "], /the file is empty/],
  ])("%s", async (_, lines, message) => {
    await expectRefused(read(lines as unknown[]), message);
  });
});

test("a step of 200,000 rollouts is read in seconds", async () => {
  const line = JSON.stringify({ uid: "q", score: 1, response_length: 100 });
  const started = performance.now();
  const step = await read(new Array<string>(200_000).fill(line));
  expect(step.rows).toBe(200_000);
  expect(performance.now() - started).toBeLessThan(15_000);
});

test("the recorded GSM8K rollouts: 660 groups of four, 353 of them mixed", async () => {
  const step = await readStep(new URL("../../../../examples/data/gsm8k_rollouts.jsonl", import.meta.url).pathname);
  const groups = new Map<string, number[]>();
  const rewards = step.fields.rm_scores;
  if (rewards?.kind !== "jagged") throw new Error("rollouts are ragged");
  let end = 0;
  for (const [row, uid] of step.uid!.entries()) {
    end += rewards.lengths[row]!;
    groups.set(uid, [...(groups.get(uid) ?? []), Number(rewards.data[end - 1])]);
  }
  expect(step.rows).toBe(2640);
  expect([...groups.values()].every((group) => group.length === 4)).toBe(true);
  const mixed = [...groups.values()].filter((group) => new Set(group).size > 1);
  expect(mixed.length * 4).toBe(1412);
});

test.each(["uid", "session"])(
  "a %s above 2^53 is refused by its line: JSON may have merged two of them",
  async (key) => {
    const line = `{"score": 1, "response_length": 1, "${key}": 9007199254740993}`;
    await expectRefused(
      readStep(fileWith("big.jsonl", `${line}\n${line}\n`)),
      new RegExp(`line 1: ${key} is .*write ids as strings`),
    );
  },
);
