import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { LABELS } from "../../src/observe/metrics/labels.js";
import { JOB_OUTCOMES, STEP_OUTCOMES } from "../../src/protocol/outcome-words.js";

test("docs/architecture.md and the metrics' label have the outcomes of src/protocol/outcome-words.ts, and no others", () => {
  const text = readFileSync(new URL("../../docs/architecture.md", import.meta.url), "utf8");
  const section = text.slice(text.indexOf("### Outcomes\n"), text.indexOf("## The way of a batch"));
  const rows = [...section.matchAll(/^\| (execution of a job|step) \| `(\w+)` \| (.+) \|$/gm)].map((row) =>
    row.slice(1),
  );
  expect(rows).toEqual([
    ...Object.entries(JOB_OUTCOMES).map((row) => ["execution of a job", ...row]),
    ...Object.entries(STEP_OUTCOMES).map((row) => ["step", ...row]),
  ]);
  const words = new Set([...Object.keys(JOB_OUTCOMES), ...Object.keys(STEP_OUTCOMES)]);
  expect([...LABELS.outcome.values]).toEqual([...words]);
});
