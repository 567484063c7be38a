import { describe, expect, it } from "vitest";
import { BUILT_INS } from "../../src/scoring/components/catalogue.js";
import { checkComponent } from "../../src/testing.js";
import { REQUIRED, VARIANTS } from "../helpers/component-variants.js";

describe.each(BUILT_INS.map((component) => ({ id: `${component.kind} ${component.name}`, component })))(
  "$id",
  ({ id, component }) => {
    it.each([{}, ...(VARIANTS[id] ?? [])])("has every property with %j", async (params) => {
      await checkComponent(component, { params: { ...REQUIRED[id], ...params } });
    });

    it("says what it does, by which formula, and where that comes from", () => {
      const { doc } = component;
      expect(doc?.summary).toMatch(/\.$/);
      expect(doc?.formula).toBeTruthy();
      expect(doc?.edges?.length).toBeGreaterThan(0);
      expect(doc?.source?.ref).toBeTruthy();
      if (component.kind === "reweighter" || component.kind === "selector") expect(doc?.score).toBeTruthy();
    });

    it("describes exactly its parameters", () => {
      const shape = (component.params as unknown as { shape: Record<string, unknown> }).shape;
      expect(Object.keys(component.doc?.params ?? {}).sort()).toEqual(Object.keys(shape).sort());
    });

    it("refuses a misspelt parameter", () => {
      expect(component.params.safeParse({ temprature: 1 }).success).toBe(false);
    });
  },
);
