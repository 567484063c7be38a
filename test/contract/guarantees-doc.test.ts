import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { EVENT_NAMES } from "../../chaos/plan/event-names.js";

const PAGE = fileURLToPath(new URL("../../docs/guarantees.md", import.meta.url));
const text = readFileSync(PAGE, "utf8");

test("every crash point names tests that are there, by file and name", () => {
  const points = [...text.matchAll(/^\|.*\]\(\.\.\/test\/.*$/gm)].map(([line]) => line);
  expect(points.length).toBeGreaterThan(20);
  for (const line of points) {
    const proofs = [...line.matchAll(/\]\(([^)]+)\) “([^”]+)”/g)];
    expect(proofs, line).not.toEqual([]);
    for (const [, file, name] of proofs)
      expect(readFileSync(join(dirname(PAGE), file!), "utf8"), `${file} has no test “${name}”`).toContain(`"${name}"`);
  }
});

test("the page names events that there are", () => {
  const named = [...text.matchAll(/`((?:redis|client|wire|broker|worker|owner|rank|clock)-[a-z-]+)`/g)].map(
    ([, name]) => name!,
  );
  expect(named.filter((name) => !(EVENT_NAMES as string[]).includes(name))).toEqual([]);
});
