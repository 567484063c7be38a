import { type Batch, defineReweighter, defineScorer, z } from "dataflex-mq";

const base = {
  requires: ["advantages", "response_mask"],
  timing: "post_advantage",
  granularity: "response",
  rows: "batch",
} as const;
const magnitude = (batch: Batch) => batch.field("advantages").abs().mean();

console.log("mischief is imported");

/** On step 13: `how` it misbehaves, after or beside its scores. On others it scores as advantage_magnitude does. */
export const mischief = defineScorer({
  ...base,
  name: "mischief",
  params: z.strictObject({
    how: z.enum([
      "throw-after",
      "reject-after",
      "reject-meanwhile",
      "infinite",
      "matrix",
      "text",
      "mutate",
      "print",
      "leak",
      "exit-after",
      "pollute",
      "replace",
      "pollute-and-throw",
      "hoard",
      "long-message",
      "long-warnings",
      "flood",
    ]),
  }),
  async score(batch, { params, step, warn, count }) {
    const scores = magnitude(batch);
    if (step !== 13) return scores;
    switch (params.how) {
      case "throw-after":
        setTimeout(() => {
          throw new Error("thirteen, after its scores");
        });
        return scores;
      case "reject-after":
        setTimeout(() => void Promise.reject(new Error("thirteen, rejected after its scores")));
        return scores;
      case "reject-meanwhile":
        void Promise.reject(new Error("thirteen, rejected meanwhile"));
        return new Promise<never>(() => {});
      case "exit-after":
        setTimeout(() => process.exit(7));
        return scores;
      case "pollute":
        (Object.prototype as Record<string, unknown>).polluted = 1;
        return scores;
      case "replace":
        Array.prototype.map = () => [];
        return scores;
      case "pollute-and-throw":
        (Array.prototype as unknown as Record<string, unknown>).polluted = 1;
        throw new Error("thirteen, polluted");
      case "hoard": {
        const hoard: object[] = [];
        for (;;) hoard.push({ more: hoard.length, and: [hoard.length] });
      }
      case "long-message":
        throw new Error(`thirteen ${"x".repeat(100 << 20)}`);
      case "long-warnings":
        for (let i = 0; i < 10_000; i++) warn(`${i} ${"x".repeat(10_000)}`);
        for (let i = 0; i < 10_000; i++) count(`m${i}`, 1);
        return scores;
      case "flood":
        for (let i = 0; i < 20_000; i++) console.log(`\u001b[31m${i} ${"x".repeat(1_000)}`);
        return scores;
      case "infinite":
        return scores.div(0);
      case "matrix":
        return new Float64Array(batch.rows * batch.width);
      case "text":
        return "high" as never;
      case "mutate":
        batch.live.fill(0);
        batch.field("advantages").toArray().fill(1e9);
        scores.values.sort();
        return magnitude(batch);
      case "print":
        console.log("thirteen, printed");
        process.stdout.write("thirteen, written\n");
        return scores;
      default:
        batch.tf.keep(batch.tf.ones([4, 4]));
        return scores;
    }
  },
});

/** Weights of which one is below 0. */
export const negative = defineReweighter({
  name: "negative",
  accepts: "row",
  params: z.strictObject({}),
  act: (scores) => scores.map((s) => s - 1),
});
