import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ERROR_CODES } from "../../src/errors.js";

test("docs/errors.md lists exactly the codes of the table, with the same facts", () => {
  const doc = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");
  const rows = [...doc.matchAll(/^\| `([A-Z_]+)` \| ([a-z]+) \| (yes|no) \| (\d) \|/gm)].map(
    ([, code, where, retryable, exit]) => [code, { where, retryable: retryable === "yes", exit: Number(exit) }],
  );
  expect(Object.fromEntries(rows)).toEqual(ERROR_CODES);
  expect(rows).toHaveLength(Object.keys(ERROR_CODES).length);
});
