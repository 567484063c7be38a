import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Scorer } from "../../../src/scoring/components/component-types.js";
import { defineReweighter, defineScorer, defineSelector } from "../../../src/scoring/components/define.js";
import { checkComponent } from "../../../src/testing.js";

const params = z.strictObject({});
const scorer = (score: Scorer["score"], rows: "independent" | "group" | "batch" = "independent") =>
  defineScorer({
    name: "mine",
    requires: ["advantages", "response_mask", "uid"],
    timing: "post_advantage",
    granularity: "response",
    needs_groups: rows === "group",
    rows,
    params,
    score,
  });
let calls = 0;

describe("checkComponent finds", () => {
  it.each<[string, Scorer]>([
    ["one number a row", scorer(() => [1])],
    ["finite", scorer((batch) => batch.vector(new Float64Array(batch.rows)).log())],
    ["determinism", scorer((batch) => Array.from({ length: batch.rows }, () => calls++))],
    ["permutation", scorer((batch) => Array.from({ length: batch.rows }, (_, i) => i), "batch")],
    ["padding", scorer((batch) => batch.field("advantages").sum().add(batch.rows), "batch")],
    ["sharding", scorer((batch) => batch.groupBy("uid").mean(batch.field("advantages").sum()), "independent")],
    ["sharding", scorer((batch) => batch.field("advantages").sum().div(batch.liveCount), "group")],
    [
      "encodings",
      scorer((batch) =>
        batch
          .field("advantages")
          .sum()
          .add(batch.field("advantages").expression.kind === "column" && kindOf(batch) === "dense" ? 1 : 0),
      ),
    ],
    ["garbage", scorer((batch) => batch.field("advantages").sum().add(rubbish(batch)))],
    ["threw", scorer((batch) => batch.field("old_log_probs").sum())],
  ])("a scorer without the property %s", async (name, broken) => {
    await expect(checkComponent(broken)).rejects.toThrow(new RegExp(`scorer 'mine' fails:[^]*${name}`));
  });

  it("a negative weight", async () => {
    const negative = defineReweighter({ name: "negative", accepts: "row", params, act: (scores) => scores.mul(-1) });
    await expect(checkComponent(negative)).rejects.toThrow(/gave weight -/);
  });

  it("a normaliser of one's own that counts padding", async () => {
    const own = defineReweighter({
      name: "own_mean",
      accepts: "row",
      params,
      act: (scores, batch) => scores.mul(batch.rows),
    });
    await expect(checkComponent(own)).rejects.toThrow(/padding/);
  });

  it("a selector that lists what it does not have", async () => {
    const beyond = defineSelector({ name: "beyond", accepts: "row", params, act: (_scores, batch) => [batch.rows] });
    await expect(checkComponent(beyond)).rejects.toThrow(/kept row/);
  });
});

it("lists everything that failed, each with its sample", async () => {
  const failures = await checkComponent(scorer((batch) => Array.from({ length: batch.rows }, (_, i) => i))).catch(
    String,
  );
  expect(failures).toMatch(/permutation, two groups of four/);
  expect(failures).toMatch(/sharding, three groups/);
});

it("skips what the author says cannot hold, and checks the rest", async () => {
  const random = scorer((batch, { rng }) => Array.from({ length: batch.rows }, rng), "batch");
  await expect(checkComponent(random)).rejects.toThrow(/permutation/);
  await checkComponent(random, { skip: ["permutation"] });
});

it("makes fields of the author's own", async () => {
  const own = defineScorer({
    name: "own",
    requires: ["turns", "surprise"],
    timing: "post_reward",
    granularity: "response",
    rows: "independent",
    params,
    score: (batch) => batch.column("turns").add(batch.field("surprise").max()),
  });
  await checkComponent(own, {
    fields: { turns: (rng, lengths) => lengths.map(() => Math.floor(rng() * 5)) },
  });
});

function kindOf(batch: Parameters<Scorer["score"]>[0]): string | undefined {
  const { expression } = batch.field("advantages");
  return expression.kind === "column" ? expression.column.kind : undefined;
}

/** Reads past the mask, as a component that multiplies by it would. */
function rubbish(batch: Parameters<Scorer["score"]>[0]): number {
  const { expression } = batch.field("advantages");
  if (expression.kind !== "column" || expression.column.kind !== "dense") return 0;
  return expression.column.values.some((value) => Number.isNaN(value)) ? 1 : 0;
}
