import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { DataflexError } from "../../../../src/errors.js";

const folder = mkdtempSync(join(tmpdir(), "dfx-replay-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A file of that name with that content, removed when the tests of the file are done. */
export function fileWith(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** Rollouts, one a line. */
export function rollouts(name: string, lines: readonly unknown[]): string {
  return fileWith(name, lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"));
}

/** Asserts that the promise is refused as wrong input (exit code 2) with a message that fits. */
export async function expectRefused(promise: Promise<unknown>, ...parts: readonly (string | RegExp)[]): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(DataflexError);
  const { code, exitCode, message } = error as DataflexError;
  expect({ code, exitCode }).toEqual({ code: "INVALID_INPUT", exitCode: 2 });
  for (const part of parts) expect(message).toMatch(part);
}
