import { expect, test } from "vitest";
import { NeutralSteps } from "../../../src/client/neutral.js";
import { DataflexError } from "../../../src/errors.js";
import type { Handle } from "../../../src/protocol/messages.js";

const steps = (): NeutralSteps => new NeutralSteps({ on_unavailable: "neutral" } as Handle);
const gone = new DataflexError("REDIS_UNREACHABLE", "Redis is away");

test("a release says for which error its step trained without weights", () => {
  const own = steps();
  own.trained("1.0", gone);
  expect(own.report("1.0", { wait_ms: 5 })).toEqual({ wait_ms: 5, neutral: "REDIS_UNREACHABLE" });
  // Also where nothing could be put of it.
  expect(own.report("1.0", undefined)).toEqual({ wait_ms: 0, neutral: "REDIS_UNREACHABLE" });
  expect(own.report("2.0", undefined)).toBeUndefined();
});

test("steps whose release was lost are reported by the next that arrives, once", () => {
  const own = steps();
  for (const step of ["1.0", "2.0"]) {
    own.trained(step, gone);
    own.released(step, false);
  }
  own.released("3.0", false);
  expect(own.report("4.0", { wait_ms: 1 })).toEqual({ wait_ms: 1, unreported: 2 });
  own.released("4.0", true);
  expect(own.report("5.0", { wait_ms: 1 })).toEqual({ wait_ms: 1 });
});

test("a step that got its weights after all is not without them", () => {
  const own = steps();
  own.trained("1.0", gone);
  own.weighed("1.0");
  expect(own.report("1.0", { wait_ms: 1 })).toEqual({ wait_ms: 1 });
});
