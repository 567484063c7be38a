import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { defineScorer, z } from "dataflex-mq";

/** Scorers that misbehave on command; each scores as advantage_magnitude does once it gets that far. */
const base = {
  requires: ["advantages", "response_mask"],
  timing: "post_advantage",
  granularity: "response",
  rows: "batch",
} as const;
type AnyBatch = { field(name: string): { abs(): { mean(): unknown } } };
const magnitude = (batch: AnyBatch) => batch.field("advantages").abs().mean() as never;

/** Notes its process in `<folder>/held-<run>-<step>`, a line an attempt, then waits for `<folder>/open-<step>` or `<folder>/open`. */
export const gated = defineScorer({
  ...base,
  name: "gated",
  params: z.strictObject({ folder: z.string() }),
  async score(batch, { params, step, run }) {
    appendFileSync(join(params.folder, `held-${run}-${step}`), `${process.pid}\n`);
    while (!existsSync(join(params.folder, `open-${step}`)) && !existsSync(join(params.folder, "open")))
      await pause(20);
    return magnitude(batch);
  },
});

/** Takes so long without blocking its thread. */
export const slow = defineScorer({
  ...base,
  name: "slow",
  params: z.strictObject({ ms: z.number() }),
  async score(batch, { params }) {
    await pause(params.ms);
    return magnitude(batch);
  },
});

/** Blocks its thread for so long; notes every attempt in `<folder>/spun`. */
export const spinning = defineScorer({
  ...base,
  name: "spinning",
  params: z.strictObject({ ms: z.number(), folder: z.string() }),
  score(batch, { params }) {
    appendFileSync(join(params.folder, "spun"), `${process.pid}\n`);
    const end = performance.now() + params.ms;
    while (performance.now() < end);
    return magnitude(batch);
  },
});

/** On step 13: `how` it goes wrong. On others it scores. */
export const unlucky = defineScorer({
  ...base,
  name: "unlucky",
  params: z.strictObject({
    how: z.enum([
      "kill",
      "exit",
      "throw",
      "throw-much",
      "late-throw",
      "endless",
      "endless-later",
      "never",
      "nan",
      "short",
    ]),
  }),
  score(batch, { params, step }) {
    if (step !== 13) return magnitude(batch);
    switch (params.how) {
      case "kill":
        process.kill(process.pid, "SIGKILL");
        return new Promise<never>(() => {});
      case "exit":
        return process.exit(3);
      case "throw":
        throw new Error("thirteen");
      case "throw-much":
        throw new Error("thirteen ".repeat(200_000));
      case "late-throw":
        setImmediate(() => {
          throw new Error("thirteen, later");
        });
        return new Promise<never>(() => {});
      case "endless-later":
        // Once the scores are out.
        setImmediate(() => {
          for (;;);
        });
        return magnitude(batch);
      case "endless":
        for (;;);
      case "never":
        return new Promise<never>(() => {});
      case "nan":
        return batch.field("advantages").mean().mul(Number.NaN);
      default:
        return [] as never;
    }
  },
});
