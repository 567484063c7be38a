/**
 * What a compute thread does with one dense matrix, from bytes to bytes, beside a hand-written loop over the same numbers.
 * Run: npm run build && npx tsx bench/scoring.ts [rows] [width]
 */
import { preparePut } from "../src/client/prepare.js";
import { toFieldValues } from "../src/columns/input.js";
import { loadComponents } from "../src/scoring/components/load-plugins.js";
import { createRegistry } from "../src/scoring/components/registry.js";
import { scoreStep } from "../src/worker/compute/score-step.js";
import { interleave, report } from "./measure.js";
import { responseLengths, startBench } from "./service.js";

const [rows, width] = [Number(process.argv[2] ?? 1024), Number(process.argv[3] ?? 4096)];
const lengths = responseLengths(rows, width);
const total = lengths.reduce((a, b) => a + b, 0);
const values = Float32Array.from({ length: total }, (_, i) => -((i * 0.618) % 1) - 1e-3);
const bench = await startBench({
  mechanism: "reweight",
  scorer: { name: "token_prob" },
  actuator: { name: "advantage_reweight" },
});
const { handle } = bench.run;
const { header, chunks } = preparePut(handle, {
  stage: "post_advantage",
  fields: toFieldValues({
    old_log_probs: { values, lengths, width },
    response_mask: { values: new Uint8Array(total).fill(1), lengths, width, dtype: "bool" },
  }),
  total_rows: rows,
  ranges: [0, rows],
});
const body = new Uint8Array(Buffer.concat(chunks));
const registry = createRegistry((await loadComponents([])).components);
const times = await interleave(30, {
  "a loop by hand": () => {
    const weights = new Float32Array(total);
    for (let i = 0, at = 0; i < rows; at += lengths[i++]!) {
      const end = at + lengths[i]!;
      let sum = 0;
      for (let t = at; t < end; t++) sum += weights[t] = 0.5 * Math.exp(values[t]!) + 0.5;
      const mean = sum / lengths[i]!;
      for (let t = at; t < end; t++) weights[t]! /= mean;
    }
  },
  "bytes to bytes": () =>
    scoreStep(
      {
        id: 0,
        spec: handle.pipelines[0]!,
        run: "bench",
        step: 1,
        trigger: 0,
        rows,
        limits: handle.limits,
        puts: [{ header, rows: header.rows, columns: header.columns, base: 0, body: body.slice() }],
      },
      registry,
    ),
});
report(`token weights of ${rows} × ${width} log-probs`, times, "a loop by hand");
await bench.stop();
