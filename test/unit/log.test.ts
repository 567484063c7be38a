import { expect, test } from "vitest";
import { throttledLog } from "../../src/log.js";

test("an error that repeats is logged once, and every ten seconds with how often it came; another one at once", () => {
  const lines: unknown[] = [];
  let now = 0;
  const log = throttledLog(
    (facts) => lines.push(facts),
    () => now,
  );
  for (let i = 0; i < 100; i++, now += 100) log(new Error("ECONNREFUSED"));
  log("ECONNRESET");
  expect(lines).toEqual([{ err: "Error: ECONNREFUSED" }, { err: "ECONNRESET" }]);
  log(new Error("ECONNREFUSED"));
  expect(lines.at(-1)).toEqual({ err: "Error: ECONNREFUSED", times: 100 });
  now += 60_000;
  log("ECONNRESET");
  expect(lines.at(-1)).toEqual({ err: "ECONNRESET" });
});
