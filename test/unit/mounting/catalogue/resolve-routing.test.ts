import { describe, expect, it } from "vitest";
import { z } from "zod";
import { catalogueOf } from "../../../../src/mounting/catalogue/catalogue-entry.js";
import { defineScorer } from "../../../../src/scoring/components/define.js";
import { FAKES } from "../../../helpers/catalogue.js";
import { builtin, mounted, problems, REWEIGHT, SELECT } from "../../../helpers/mount.js";

describe("several catalogues", () => {
  const mine = defineScorer({
    name: "mine",
    requires: ["rm_scores"],
    timing: "post_reward",
    granularity: "response",
    params: z.strictObject({}),
    score: () => [],
  });
  const plugin = (source: string) =>
    catalogueOf([...FAKES, mine], { prefix: "plugin", sourceOf: (c) => (c === mine ? source : undefined) });
  const block = { ...REWEIGHT, scorer: { name: "mine" } };

  it("routes to the one that holds both components, built-ins to the built-ins, in any order", () => {
    const a = plugin("a");
    expect(mounted(block, {}, [builtin, a]).pipelines[0]?.fingerprint).toBe(a.fingerprint);
    for (const order of [
      [builtin, a],
      [a, builtin],
    ]) {
      expect(mounted(REWEIGHT, {}, order).pipelines[0]?.fingerprint).toBe(builtin.fingerprint);
    }
  });

  it("refuses a name that two define differently until one is named", () => {
    const [a, b] = [plugin("a"), plugin("b")];
    const [problem] = problems(block, {}, [builtin, a, b]);
    expect(problem?.text).toMatch(
      /scorer "mine" is defined differently by plugin-\w+ and plugin-\w+.*fingerprint: plugin-/,
    );
    const named = { ...block, scorer: { name: "mine", fingerprint: b.fingerprint } };
    expect(mounted(named, {}, [builtin, a, b]).pipelines[0]?.fingerprint).toBe(b.fingerprint);
    const gone = { ...block, scorer: { name: "mine", fingerprint: "plugin-000000000000" } };
    expect(problems(gone, {}, [builtin, a])[0]?.path).toBe("dataflex.scorer.fingerprint");
    const both = { ...named, actuator: { name: "softmax", fingerprint: a.fingerprint } };
    expect(problems(both, {}, [builtin, a, b])[0]?.path).toBe("dataflex.actuator.fingerprint");
  });

  it("refuses two components that no worker holds together", () => {
    const lonely = catalogueOf([mine], { prefix: "plugin" });
    expect(problems(block, {}, [builtin, lonely])[0]?.text).toMatch(/no worker can run both/);
  });

  it("answers a timing that it does not know, as another process may register anything", () => {
    const foreign = (timing: string) => {
      const entries = builtin.entries.map((e) =>
        e.name === "advantage_magnitude" ? { ...e, timing: timing as never } : e,
      );
      return problems(REWEIGHT, {}, [{ fingerprint: "plugin-x", entries }])[0]?.text;
    };
    expect(foreign("in_loss")).toMatch(/current policy's log-probs.*post_advantage/);
    expect(foreign("post_rewards")).toMatch(/unknown timing "post_rewards" \| did you mean "post_reward"/);
  });

  it("checks rules between parameters", () => {
    const entries = builtin.entries.map((e) =>
      e.name === "threshold_band" ? { ...e, rules: [{ rule: "less" as const, params: ["low", "high"] as const }] } : e,
    );
    const catalogue = { fingerprint: builtin.fingerprint, entries };
    const bad = { ...SELECT, actuator: { name: "threshold_band", params: { low: 0.8, high: 0.2 } } };
    expect(problems(bad, {}, [catalogue])[0]?.text).toContain("low must be below high, got low = 0.8 and high = 0.2");
    expect(mounted(SELECT, {}, [catalogue]).ok).toBe(true);
  });
});
