import { definePolicy, z } from "dataflex-mq";

/** Leaves out prompts that the last `steps` steps have trained on. Remembers of each step which prompts it had. */
export const coolDown = definePolicy({
  name: "cool_down",
  params: z.strictObject({ steps: z.number().int().min(0).default(3) }),
  doc: {
    summary: "Leaves out prompts that were trained on a moment ago.",
    formula: "keep a prompt if its last step is more than `steps` steps ago",
    edges: ["no prompt is left: all are kept", "a prompt that was never seen is kept"],
    params: { steps: ">= 0; how many steps a prompt rests" },
    source: { ref: "an example", verified: "its test beside it" },
  },
  feed: (batch) => [...new Set(batch.strings("dataset_key"))].map((key) => [key, 1] as const),
  select(history, candidates, { params, step }) {
    const rested = candidates.strings("dataset_key").map((key) => {
      const last = history.latest(key)?.step ?? Number.NEGATIVE_INFINITY;
      return step - last > params.steps;
    });
    // A trainer without a single prompt would have to stop.
    return { keep: rested.some(Boolean) ? rested : rested.map(() => true) };
  },
});
