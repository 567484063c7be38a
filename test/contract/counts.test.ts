import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { COMPONENT_COUNTS } from "../../src/scoring/components/counts.js";

const root = fileURLToPath(new URL("../../src/scoring/components", import.meta.url));
/** What a policy says of itself is no count of rows. */
const NO_COUNT = ["target_difficulty"];

it("every count of a built-in component is known to the metrics, and none that nobody makes", () => {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) => /s\/.*\.ts$/.test(file));
  const made = files.flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/\bcount\(\s*"([a-z_]+)"/g)].map((match) => match[1]!),
  );
  const known = [...Object.keys(COMPONENT_COUNTS), ...NO_COUNT];
  // Not a component's own, and named with a reason before it.
  const others = ["rows_kept_when_short", "log_ratio_clamped_excess"];
  expect([...new Set(made)].filter((name) => !known.includes(name) && !others.includes(name))).toEqual([]);
  expect(known.filter((name) => !made.includes(name) && !others.includes(name))).toEqual([]);
});
