import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { componentsDoc } from "../../scripts/components-doc.js";
import { builtinCatalogue } from "../../src/mounting/catalogue/builtin.js";

const text = readFileSync(new URL("../../docs/components.md", import.meta.url), "utf8");

test("docs/components.md is what the components say (npx tsx scripts/gen-components-doc.ts)", () => {
  expect(text).toBe(componentsDoc(builtinCatalogue().entries));
});

test("every component has its row and its section, and every link leads to a heading", () => {
  const anchors = [...text.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading!.replace(" ", "-"));
  const links = [...text.matchAll(/^\| \[`[a-z_0-9]+`\]\(#(.+?)\)/gm)].map(([, target]) => target!);
  expect(links).toEqual(anchors);
  expect([...links].sort()).toEqual(
    builtinCatalogue()
      .entries.map(({ kind, name }) => `${kind}-${name}`)
      .sort(),
  );
});
