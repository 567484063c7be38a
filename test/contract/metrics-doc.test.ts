import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { metricsDoc } from "../helpers/metrics-doc.js";

test("docs/metrics.md lists the metrics and labels as the code has them (npx tsx scripts/gen-metrics.ts)", () => {
  const text = readFileSync(new URL("../../docs/metrics.md", import.meta.url), "utf8");
  expect(metricsDoc(text)).toBe(text);
});
