import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Programs of a folder: files that say how they are run. The others serve them. */
const programs = (folder: string, said: RegExp): string[] =>
  readdirSync(`${ROOT}${folder}`)
    .map((name) => `${folder}/${name}`)
    .filter((file) => said.test(readFileSync(`${ROOT}${file}`, "utf8")));

test("the page of benchmarks names every one of them, and none that is not there", () => {
  const page = readFileSync(`${ROOT}bench/README.md`, "utf8");
  const named = [...page.matchAll(/(?:npx tsx|python) (\S+\.(?:ts|py))`/g)].map(([, file]) => file);
  const there = [...programs("bench", /^ \* Run: /m), ...programs("python/bench", /Usage: /)];
  expect(there.length).toBeGreaterThan(5);
  expect(named.toSorted()).toEqual(there.toSorted());
});
