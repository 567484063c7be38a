import { expect, test } from "vitest";
import { resolveMount } from "../../../../src/mounting/catalogue/resolve.js";
import { workerCatalogues } from "../../../../src/mounting/catalogue/worker-catalogues.js";
import { parseConfig } from "../../../../src/mounting/config/load-config.js";
import { locateProblems, MOST_PROBLEMS, problemText } from "../../../../src/mounting/config/problems.js";

const catalogues = await workerCatalogues([]);

test.each([
  ["in the block", (i: number) => `  k${i}: 1`],
  [
    "in a pipeline's parameters",
    (i: number) => `${i === 0 ? "  actuator:\n    name: softmax\n    params:\n" : ""}      k${i}: 1`,
  ],
  ["in pipelines", (i: number) => `${i === 0 ? "  pipelines:\n    a:\n" : ""}      k${i}: 1`],
])("as many unknown keys as a file may hold %s: a bounded answer, in seconds", (_, line) => {
  const begun = performance.now();
  const text = `dataflex:\n  mechanism: reweight\n${Array.from({ length: 70_000 }, (_, i) => line(i)).join("\n")}\n`;
  const loaded = parseConfig(text, "x.yaml");
  if (!loaded.ok) throw new Error("not read");
  const resolved = resolveMount({ dataflex: loaded.config.dataflex, mode: "check" }, catalogues);
  if (resolved.ok) throw new Error("accepted");
  const located = locateProblems(resolved.problems, loaded.config).map(problemText);
  expect(located.length).toBeLessThanOrEqual(MOST_PROBLEMS + 1);
  expect(located.at(-1)).toMatch(/and \d+ or more other problems/);
  expect(performance.now() - begun).toBeLessThan(30_000);
});
