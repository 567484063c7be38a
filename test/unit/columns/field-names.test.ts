import { describe, expect, it } from "vitest";
import { validateFieldName } from "../../../src/columns/field-names.js";
import { thrown } from "./thrown.js";

describe("field names", () => {
  it.each(["rm_scores", "response_mask", "uid", "_x", "teacher.log-probs", "a".repeat(96)])("takes %s", (name) => {
    expect(() => validateFieldName(name)).not.toThrow();
  });

  it.each(["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"])("refuses %s by name", (name) => {
    const error = thrown(() => validateFieldName(name));
    expect(error.code).toBe("INVALID_INPUT");
    expect(error.message).toContain(`"${name}" is a property of every object`);
    expect(error.details).toEqual({ field: name });
  });

  it.each(["", "1x", "a b", "a:b", "ü", "a".repeat(97), 7, undefined])("refuses %s", (name) => {
    expect(thrown(() => validateFieldName(name)).code).toBe("INVALID_INPUT");
  });
});
