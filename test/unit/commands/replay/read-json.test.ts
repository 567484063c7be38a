import { describe, expect, test } from "vitest";
import { STRING_FIELDS } from "../../../../src/columns/field-names.js";
import { readStep } from "../../../../src/commands/replay/read-input.js";
import { expectRefused, fileWith } from "./helpers.js";

const json = (value: unknown, name = "step.json"): Promise<unknown> =>
  readStep(fileWith(name, typeof value === "string" ? value : JSON.stringify(value)));

describe("a step as one JSON object", () => {
  test("padded matrices become tensors, the mask bytes", async () => {
    const step = await json({
      step: 7,
      adv_estimator: "grpo",
      fields: {
        rm_scores: [
          [0, 1],
          [0.5, 0],
        ],
        response_mask: [
          [1, 1],
          [true, 0],
        ],
      },
      uid: ["a", 3],
      domain: ["math", "code"],
      session: ["0", "1"],
      lengths: [2, 1],
      is_padding: [false, 1],
    });
    expect(step).toEqual({
      step: 7,
      rows: 2,
      adv_estimator: "grpo",
      fields: {
        rm_scores: { kind: "tensor", dtype: "f32", shape: [2, 2], data: Float32Array.of(0, 1, 0.5, 0) },
        response_mask: { kind: "tensor", dtype: "u8", shape: [2, 2], data: Uint8Array.of(1, 1, 1, 0) },
      },
      uid: ["a", "3"],
      domain: ["math", "code"],
      session: ["0", "1"],
      lengths: Int32Array.of(2, 1),
      is_padding: Uint8Array.of(0, 1),
    });
  });

  test("ragged rows stay ragged, give the lengths, and stand for the width of padded ones", async () => {
    const step = await json({
      fields: {
        pi: [[1, 2], [3]],
        mask: [
          [1, 1, 0],
          [1, 0, 0],
        ],
        score: [1, 2],
        none: [[0, 0], []],
      },
    }).catch((error: Error) => error.message);
    expect(step).toMatch(/pi and none disagree in row 1: 1 tokens and 0/);
    expect(
      await json({
        fields: {
          pi: [[1, 2], [3]],
          mask: [
            [1, 1, 0],
            [1, 0, 0],
          ],
          score: [1, 2],
        },
      }),
    ).toMatchObject({
      step: 1,
      lengths: Int32Array.of(2, 1),
      fields: {
        pi: { kind: "jagged", lengths: Int32Array.of(2, 1), width: 3, data: Float32Array.of(1, 2, 3) },
        mask: { kind: "tensor", shape: [2, 3] },
        score: { kind: "tensor", shape: [2] },
      },
    });
  });

  test('null, NaN and "NaN" are NaN, infinities are themselves; text is left alone', async () => {
    const text =
      '{"fields": {"x": [[null, NaN], ["NaN", -Infinity], [Infinity, 1]]}, "uid": ["NaN, \\" NaN", "b", "c"]}';
    expect(await json(text)).toMatchObject({
      fields: { x: { data: Float32Array.of(Number.NaN, Number.NaN, Number.NaN, -Infinity, Infinity, 1) } },
      uid: ['NaN, " NaN', "b", "c"],
    });
  });

  test("strings, and matrices of a width of their own, may stand under any name; the mask says how wide a response is", async () => {
    const fields = {
      response_mask: [
        [1, 1, 1],
        [1, 1, 0],
      ],
      features: [[1], [2]],
      embedding: [
        [1, 2, 3, 4],
        [5, 6, 7, 8],
      ],
      source: ["web", "NaN"],
      acc: ["NaN", 1],
    };
    expect(await json({ fields })).toMatchObject({
      fields: {
        response_mask: { shape: [2, 3] },
        features: { shape: [2, 1] },
        embedding: { shape: [2, 4] },
        source: { kind: "strings", values: ["web", "NaN"] },
        acc: { kind: "tensor", shape: [2] },
      },
    });
  });

  test("row columns may stand among the fields, but not in both places", async () => {
    const fields = { x: [[1]], uid: ["a"], is_padding: [true], lengths: [1] };
    expect(await json({ fields })).toMatchObject({
      uid: ["a"],
      is_padding: Uint8Array.of(1),
      lengths: Int32Array.of(1),
    });
    await expectRefused(json({ fields, uid: ["a"] }), /uid is given twice/);
  });
});

test.each(STRING_FIELDS)("%s, as every string field, is read from each kind of file", async (name) => {
  const lines = ["a", "b"].map((id) => JSON.stringify({ score: 1, response_length: 1, [name]: id }));
  const npz = new URL("../../../fixtures/replay/strings.npz", import.meta.url).pathname;
  const files = [fileWith("s.json", JSON.stringify({ fields: { x: [1, 2] }, [name]: ["a", "b"] })), npz];
  for (const file of [...files, fileWith("s.jsonl", lines.join("\n"))]) {
    expect(await readStep(file)).toMatchObject({ rows: 2, [name]: ["a", "b"] });
  }
});

describe("what is refused, and where it says the fault lies", () => {
  test.each([
    ["not JSON", "{", /step\.json: not JSON/],
    ["a bare NaN in broken JSON", '{"fields": NaN', /not JSON/],
    ["a list", [1], /expected one JSON object/],
    ["no fields", { step: 1 }, /"fields" is missing/],
    ["empty fields", { fields: {} }, /has no fields/],
    ["no rows", { fields: { x: [] } }, /x has no rows/],
    ["a misplaced tensor", { fields: { x: [[1]] }, rm_scores: [[1]] }, /unknown key "rm_scores".*under "fields"/],
    ["a field that is no list", { fields: { x: 3 } }, /x is 3, not a list/],
    ["text among numbers", { fields: { x: [[1, "no"]] } }, /x row 0, column 1 is "no", not a number/],
    ["a number among rows", { fields: { x: [[1], 2] } }, /x row 1 is 2, not a list/],
    ["a row among numbers", { fields: { x: [1, [2]] } }, /x row 1 is \[2\], not a number/],
    ["a deeper list", { fields: { x: [[[1]]] } }, /x row 0, column 0 is \[1\], not a number/],
    [
      "a mask of 2",
      { fields: { response_mask: [[1, 2]] } },
      /response_mask row 0, column 1 is 2; a mask holds 0 and 1/,
    ],
    ["rows that disagree", { fields: { x: [[1]], y: [[1], [2]] } }, /x has 1 rows and y has 2/],
    ["too few uids", { fields: { x: [[1], [2]] }, uid: ["a"] }, /x has 2 rows and uid has 1/],
    [
      "ragged rows that disagree",
      { fields: { x: [[1], []], y: [[], [1]] } },
      /x and y disagree in row 0: 1 tokens and 0/,
    ],
    ["lengths that disagree", { fields: { x: [[1], []] }, lengths: [1, 1] }, /lengths and x disagree in row 1/],
    [
      "a row longer than the mask is wide",
      { fields: { response_mask: [[1], [1]] }, lengths: [1, 2] },
      /row 1 has 2 response tokens, more than response_mask is wide \(1\)/,
    ],
    ["a fractional length", { fields: { x: [[1]] }, lengths: [0.5] }, /lengths row 0 is 0.5/],
    ["a padding flag of 2", { fields: { x: [[1]] }, is_padding: [2] }, /is_padding row 0 is 2/],
    ["a uid that is no text", { fields: { x: [[1]] }, uid: [{}] }, /uid row 0 is \{\}, neither a string/],
    ["a fractional step", { step: 1.5, fields: { x: [[1]] } }, /step is 1.5/],
    ["an estimator that is no name", { adv_estimator: 3, fields: { x: [[1]] } }, /adv_estimator is 3/],
  ])("%s", async (_, value, message) => {
    await expectRefused(json(value), message);
  });

  test("missing and empty files, folders", async () => {
    await expectRefused(readStep("/nowhere/step.json"), /\/nowhere\/step\.json: there is no such file/);
    await expectRefused(readStep(fileWith("empty.json", "")), /the file is empty/);
    await expectRefused(readStep("/"), /is a folder/);
  });
});

test("a file of another name is read by what it holds", async () => {
  expect(await json({ fields: { x: [[1]] } }, "step.txt")).toMatchObject({ rows: 1 });
  expect(await readStep(fileWith("rollouts.txt", '{"score": 1, "response_length": 2}'))).toMatchObject({ rows: 1 });
});

describe("ids that are numbers", () => {
  const step = (uid: string) => `{"fields": {"rm_scores": [[1], [0]]}, "uid": [${uid}, 1]}`;
  test("are taken up to 2^53, and refused where JSON may have merged two of them", async () => {
    expect(await json(step("9007199254740991"))).toMatchObject({ uid: ["9007199254740991", "1"] });
    for (const uid of ["9007199254740993", "-9007199254740993", "1e300", "0.1"]) {
      await expectRefused(json(step(uid)), /uid row 0 is .*write ids as strings/);
    }
    await expectRefused(json(step("1").replace("uid", "session").replace("1,", "9007199254740992,")), /session row 0/);
  });
});
