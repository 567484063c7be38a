import { expect, it } from "vitest";
import { z } from "zod";
import { BUILT_INS } from "../../../../src/scoring/components/catalogue.js";
import { defineScorer } from "../../../../src/scoring/components/define.js";
import { createRegistry } from "../../../../src/scoring/components/registry.js";

const registry = createRegistry(BUILT_INS);

it("finds by kind and name", () => {
  expect(registry.get("reweighter", "softmax").name).toBe("softmax");
  expect(registry.find("selector", "softmax")).toBeUndefined();
  expect(registry.list("scorer").map((scorer) => scorer.name)).toContain("token_prob");
  expect(registry.list()).toHaveLength(BUILT_INS.length);
});

it("answers an unknown name with near ones and everything of that kind", () => {
  const find = () => registry.get("scorer", "advantage_magnitud");
  expect(find).toThrow(
    expect.objectContaining({
      code: "COMPONENT_UNKNOWN",
      message: expect.stringMatching(/did you mean 'advantage_magnitude'\?/),
    }),
  );
  expect(() => registry.get("scorer", "softmax")).toThrow(
    /'softmax' is a reweighter.*registered scorers: advantage_magnitude/,
  );
  expect(() => registry.get("scorer", "toString")).toThrow(expect.objectContaining({ code: "COMPONENT_UNKNOWN" }));
});

it("refuses two components of one kind and name, naming both; the same value twice is one", () => {
  const mine = defineScorer({
    name: "token_prob",
    timing: "post_advantage",
    granularity: "response",
    params: z.strictObject({}),
    doc: { summary: "Mine." },
    score: () => [],
  });
  expect(() => createRegistry([...BUILT_INS, mine])).toThrow(/two scorers are called 'token_prob'.*Probability.*Mine/);
  expect(createRegistry([mine, mine]).list()).toEqual([mine]);
});
