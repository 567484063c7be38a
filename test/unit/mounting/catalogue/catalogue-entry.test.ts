import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { catalogueOf, toEntry } from "../../../../src/mounting/catalogue/catalogue-entry.js";
import { canonicalJson } from "../../../../src/mounting/catalogue/fingerprint.js";
import { defineReweighter } from "../../../../src/scoring/components/define.js";
import { FAKES } from "../../../helpers/catalogue.js";

const scaled = (name: string, fallback: number) =>
  defineReweighter({
    name,
    accepts: "row",
    params: z.strictObject({ by: z.number().default(fallback), list: z.array(z.string()).optional() }),
    doc: { summary: "scales", formula: "w = by × s" },
    act: () => [],
  });

describe("toEntry", () => {
  it("is plain data that survives JSON and names no function", () => {
    const entry = toEntry(scaled("scale", 2));
    expect(JSON.parse(JSON.stringify(entry))).toEqual(entry);
    expect(entry).toMatchObject({
      kind: "reweighter",
      name: "scale",
      accepts: "row",
      defaults: { by: 2 },
      needs: [],
      needs_groups: false,
      rows: "batch",
      rules: [],
    });
    expect(entry.params).toMatchObject({ type: "object", additionalProperties: false });
  });

  it("has an identity of kind, name and source", () => {
    const id = toEntry(scaled("scale", 2)).id;
    expect(toEntry(scaled("scale", 2)).id).toBe(id);
    expect(toEntry(scaled("scale", 3)).id).not.toBe(id);
    expect(toEntry(scaled("other", 2)).id).not.toBe(id);
    expect(toEntry(scaled("scale", 2), "file a").id).not.toBe(toEntry(scaled("scale", 2), "file b").id);
  });
});

describe("catalogueOf", () => {
  it("has a fingerprint fit for queue names, whatever the order", () => {
    const { fingerprint } = catalogueOf(FAKES);
    expect(fingerprint).toMatch(/^builtin-[0-9a-f]{12}$/);
    expect(catalogueOf([...FAKES].reverse()).fingerprint).toBe(fingerprint);
    expect(catalogueOf(FAKES.slice(1)).fingerprint).not.toBe(fingerprint);
    expect(catalogueOf(FAKES, { prefix: "plugin" }).fingerprint).toBe(fingerprint.replace("builtin", "plugin"));
  });

  it("is the same in another process", () => {
    const script = `import("./test/helpers/catalogue.ts").then((m) => console.log(m.fakeCatalogue().fingerprint))`;
    const other = execFileSync(process.execPath, ["--import", "tsx", "-e", script], { encoding: "utf8" });
    expect(other.trim()).toBe(catalogueOf(FAKES).fingerprint);
  });
});

it("canonicalJson does not depend on the order of keys", () => {
  expect(canonicalJson({ b: [{ d: 1, c: 2 }], a: undefined })).toBe(
    canonicalJson({ a: undefined, b: [{ c: 2, d: 1 }] }),
  );
  expect(canonicalJson({ b: 1, a: 2 })).toBe('{"a":2,"b":1}');
});
