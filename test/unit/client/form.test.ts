import { describe, expect, test } from "vitest";
import { checkForm } from "../../../src/client/form.js";
import { checkRowOptions } from "../../../src/client/guard.js";
import { type FieldInput, toFieldValues } from "../../../src/columns/input.js";
import { thrown } from "../columns/thrown.js";

const needs = [
  { name: "advantages", scope: "mask" },
  { name: "entropy", scope: "mask" },
  { name: "acc", scope: "mask", kind: "numbers" },
  { name: "weight" },
  { name: "uid" },
] as const;
const check = (inputs: Readonly<Record<string, FieldInput>>, rows: number) =>
  checkForm(toFieldValues(inputs), needs, rows);

describe("the fields of a put", () => {
  test("of its rows, in the form that is read, pass", () => {
    check({ advantages: [[1], [2, 3]], weight: [1, 2], uid: ["a", "b"] }, 2);
    check({ advantages: { data: new Float32Array(6), shape: [2, 3] } }, 2);
    check({ advantages: [1, 2], acc: [1, 2] }, 2);
    check({ acc: [[1], [2, 3]] }, 2);
  });

  test.each<[Readonly<Record<string, FieldInput>>, string]>([
    [{ weight: [1] }, 'field "weight" has 1 rows, this put is for 2'],
    [{ uid: ["a", "b", "c"] }, 'field "uid" has 3 rows, this put is for 2'],
    [{ advantages: [[1], [2], [3]] }, 'field "advantages" has 3 rows, this put is for 2'],
    [{ advantages: { data: new Float32Array(2), shape: [1, 2] } }, 'field "advantages" has 1 rows, this put is for 2'],
    [{ uid: [1, 2] }, 'field "uid" holds numbers; it is a column of one string per row'],
    [{ entropy: [1, 2] }, 'field "entropy" has one number per row; it is read token by token'],
    [{ weight: ["a", "b"] }, 'field "weight" holds strings; it is read as one number per row'],
    [{ weight: [[1], [2, 3]] }, 'field "weight" holds one number per token; it is read as one number per row'],
    [{ acc: ["a", "b"] }, 'field "acc" holds strings; it is read as numbers'],
    [{ advantages: ["a", "b"] }, 'field "advantages" has one string per row; it is read token by token'],
  ])("are refused by name (%#)", (inputs, message) => {
    const error = thrown(() => check(inputs, 2));
    expect(error.code).toBe("INVALID_INPUT");
    expect(error.message).toContain(message);
    expect(error.details).toMatchObject({ field: Object.keys(inputs)[0] });
  });
});

test.each([
  [{ lengths: [1] }, { option: "lengths", expected: 2 }],
  [{ lengths: [1, -1] }, { option: "lengths", row: 1 }],
  [{ lengths: [1, 1.5] }, { option: "lengths", row: 1 }],
  [{ lengths: [1, 2 ** 31] }, { option: "lengths", row: 1 }],
  [{ is_padding: [true] }, { option: "is_padding", expected: 2 }],
  [{ is_padding: [true, "yes"] }, { option: "is_padding", row: 1 }],
])("what goes with a put has one entry a row (%#)", (options, details) => {
  const error = thrown(() => checkRowOptions(options, 2));
  expect(error.code).toBe("INVALID_INPUT");
  expect(error.details).toEqual(details);
});
