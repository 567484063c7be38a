import { describe, expect, test } from "vitest";
import { duplicateKey } from "../../../../src/commands/replay/lenient-json.js";
import { readNpy } from "../../../../src/commands/replay/npy.js";
import { readStep } from "../../../../src/commands/replay/read-input.js";
import { expectRefused, fileWith, rollouts } from "./helpers.js";

const line = { uid: "a", score: 1, response_length: 2 };
const json = (text: string) => readStep(fileWith("hostile.json", text));

describe("files that would give a wrong weight without a word", () => {
  test("a key twice in one object: JSON would take the last", async () => {
    await expectRefused(json('{"fields": {"a": [1]}, "fields": {"a": [2]}}'), /"fields" stands twice/);
    await expectRefused(json('{"fields": {"a": [1], "b": [3], "\\u0061" : [2]}}'), /"a" stands twice/);
    await expectRefused(
      readStep(rollouts("twice.jsonl", [line, '{"uid":"a","score":1,"score":0,"response_length":2}'])),
      /line 2: the key "score" stands twice/,
    );
  });

  test("the same key in other objects, in strings and as a value is no duplicate", () => {
    expect(
      duplicateKey('{"a": {"a": 1}, "b": "a", "c": [{"a": 1}, {"a": 2}], "d": "{\\"a\\": 1, \\"a\\": 2}"}', 3),
    ).toBe(undefined);
  });

  test("finite numbers that float32 turns into Infinity", async () => {
    await expectRefused(json('{"fields": {"a": [[1, 2], [1e308, 0]]}}'), /a row 1, column 0 is 1e\+308, which float32/);
    await expectRefused(json('{"fields": {"a": [1, -1e39]}}'), /a row 1 is -1e\+39, which float32/);
    await expectRefused(readStep(rollouts("big.jsonl", [line, { ...line, score: 1e308 }])), /line 2: score is 1e\+308/);
  });

  test("a length that nothing could hold is refused before it is allocated", async () => {
    const long = rollouts("long.jsonl", [line, { ...line, response_length: 2 ** 31 - 1 }]);
    await expectRefused(readStep(long), /line 2: response_length is 2147483647, not a whole number of tokens up to/);
  });

  test("strings of no characters in numpy: a header of a few bytes asks for any number of rows", () => {
    const header = "{'descr': '<U0', 'fortran_order': False, 'shape': (900000000,), }\n";
    const bytes = Buffer.concat([
      Buffer.from("\x93NUMPY\x01\x00", "latin1"),
      Buffer.from([header.length, 0]),
      Buffer.from(header),
    ]);
    expect(() => readNpy("x.npz", "uid", bytes)).toThrow(/type <U0 cannot be read/);
  });

  test("a byte order mark is no part of the text", async () => {
    expect(await json('\ufeff{"fields": {"a": [1]}}')).toMatchObject({ rows: 1 });
    expect(await readStep(fileWith("bom.jsonl", `\ufeff${JSON.stringify(line)}\n`))).toMatchObject({ rows: 1 });
  });
});
