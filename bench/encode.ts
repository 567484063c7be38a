/**
 * Encoding a GRPO step and a step of log-probs in the client, beside one pass that reads every number once.
 * Run: npm run build && npx tsx bench/encode.ts [rows] [width]
 */
import { preparePut } from "../src/client/prepare.js";
import { toFieldValues } from "../src/columns/input.js";
import { interleave, report } from "./measure.js";
import { GRPO, grpoStep, startBench } from "./service.js";

const [rows, width] = [Number(process.argv[2] ?? 1024), Number(process.argv[3] ?? 4096)];
const bench = await startBench({
  pipelines: {
    rows: GRPO,
    tokens: { mechanism: "reweight", scorer: { name: "token_prob" }, actuator: { name: "advantage_reweight" } },
  },
});
const { advantages, response_mask } = grpoStep(rows, width);
const old_log_probs = { ...advantages, values: advantages.values.map((_, i) => -((i * 0.618) % 1) - 1e-3) };
const read = (fields: readonly { values: ArrayLike<number> }[]) => (): number => {
  let sum = 0;
  for (const { values } of fields) for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum;
};
const encode = (fields: Readonly<Record<string, unknown>>) => () =>
  preparePut(bench.run.handle, {
    stage: "post_advantage",
    fields: toFieldValues(fields),
    total_rows: rows,
    ranges: [0, rows],
  });
for (const [title, fields] of Object.entries({
  "advantages and mask": { advantages, response_mask },
  "log-probs and mask": { old_log_probs, response_mask },
})) {
  const times = await interleave(30, { "one read pass": read(Object.values(fields)), encoding: encode(fields) });
  report(`${title}, ${rows} × ${width}`, times, "one read pass");
}
await bench.stop();
