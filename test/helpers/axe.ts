import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds wrong with a page as it stands, all its rules: `rule: element` each. Put in past the page's policy, as a reader's add-on is. */
export async function violationsOf(page: Page): Promise<string[]> {
  if (!(await page.evaluate("typeof axe === 'object'"))) await page.evaluate(SOURCE);
  const { violations } = await page.evaluate<{
    violations: { id: string; nodes: { target: unknown[]; html: string }[] }[];
  }>("axe.run(document, { resultTypes: ['violations'] })");
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((n) => `${id}: ${n.target.join(" ")} ${n.html.slice(0, 120)}`),
  );
}
