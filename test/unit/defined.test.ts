import { expect, test } from "vitest";
import { defined } from "../../src/defined.js";

test("leaves out what is undefined, keeps null and falsy values and the order", () => {
  const made = defined({ b: 0, gone: undefined, a: null, c: "" });
  expect(Object.entries(made)).toEqual([
    ["b", 0],
    ["a", null],
    ["c", ""],
  ]);
});
