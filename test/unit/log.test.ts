import { expect, test } from "vitest";
import { throttledLog } from "../../src/log.js";

test("an error that repeats is told once, and every ten seconds with how often it came; another one at once", () => {
  const told: unknown[] = [];
  let now = 0;
  const tell = throttledLog(
    (facts) => told.push(facts),
    () => now,
  );
  for (let i = 0; i < 100; i++, now += 100) tell(new Error("ECONNREFUSED"));
  tell("ECONNRESET");
  expect(told).toEqual([{ err: "Error: ECONNREFUSED" }, { err: "ECONNRESET" }]);
  tell(new Error("ECONNREFUSED"));
  expect(told.at(-1)).toEqual({ err: "Error: ECONNREFUSED", times: 100 });
  now += 60_000;
  tell("ECONNRESET");
  expect(told.at(-1)).toEqual({ err: "ECONNRESET" });
});
