import { expect, test } from "vitest";
import { Ledger } from "../../../chaos/world/ledger.js";

test("only what happened while a call ran, and can have that effect, explains its refusal", () => {
  const ledger = new Ledger();
  expect(ledger.explains("REDIS_UNREACHABLE", performance.now())).toBe(false);
  const over = ledger.begin("redis-freeze");
  const during = performance.now();
  expect(ledger.explains("REDIS_UNREACHABLE", during)).toBe(true);
  expect(ledger.explains("REDIS_FULL", during)).toBe(false);
  expect(ledger.explains("TIMEOUT", during)).toBe(false);
  over();
  expect(ledger.explains("REDIS_UNREACHABLE", performance.now() + 60_000)).toBe(false);
});

test("a job is poison after two workers were lost, not after one", () => {
  const ledger = new Ledger();
  const from = performance.now();
  ledger.begin("worker-kill")();
  expect(ledger.explains("POISON", from)).toBe(false);
  ledger.begin("worker-stop")();
  expect(ledger.explains("POISON", from)).toBe(true);
});
