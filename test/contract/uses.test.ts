import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { BUILT_INS } from "../../src/scoring/components/catalogue.js";
import { USES } from "../../src/scoring/components/uses.js";

const remedies = USES.flatMap((use) => use.remedies);
const named = new Set(remedies.flatMap(({ components }) => components));

it("names components and recipes that there are", () => {
  const known = new Set(BUILT_INS.map(({ name }) => name));
  expect([...named].filter((name) => !known.has(name))).toEqual([]);
  const recipes = readdirSync(fileURLToPath(new URL("../../config/recipes", import.meta.url)));
  expect(remedies.flatMap(({ recipe }) => recipe ?? []).filter((file) => !recipes.includes(file))).toEqual([]);
});

it("has a use for everything that acts", () => {
  const acts = BUILT_INS.filter(({ kind }) => kind !== "scorer").map(({ name }) => name);
  expect(acts.filter((name) => !named.has(name))).toEqual([]);
});
