import { expect, test } from "vitest";
import { DataflexError, type ErrorCode } from "../../src/errors.js";
import { errorOf, sentence } from "../../src/sentences.js";

test("a sentence's holes are filled, and its error has its code and the facts as details", () => {
  const error = errorOf("FENCED", { run: "r", incarnation: 3 });
  expect(error).toMatchObject({
    code: "FENCED",
    message: 'run "r": incarnation 3 was replaced by a later trainer; this one must stop',
    details: { run: "r", incarnation: 3 },
  });
  expect(errorOf("CHUNKS_MISSING.read", { key: "{found}", wanted: 3, found: 1 }, {})).toMatchObject({
    code: "CHUNKS_MISSING",
    message: "{found}: 3 chunks wanted, 1 found",
    details: {},
  });
  expect(sentence("CLOSED.client", {})).toBe("this client was closed: connect another");
});

test("a failure is rebuilt with its cause; a later version's code is kept in the details", () => {
  const cause = new Error("first");
  const failure = new DataflexError("POISON", "gone", { job: "j" }).toFailure();
  const rebuilt = DataflexError.fromFailure(failure, cause);
  expect(rebuilt).toMatchObject({ code: "POISON", message: "gone", details: { job: "j" }, cause });
  expect("cause" in DataflexError.fromFailure(failure)).toBe(false);
  const later = DataflexError.fromFailure({ ...failure, code: "NEW_CODE" as ErrorCode });
  expect(later).toMatchObject({ code: "INTERNAL", details: { job: "j", code: "NEW_CODE" } });
});
