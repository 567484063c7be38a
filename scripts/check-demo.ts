/**
 * Checks what `dataflex-mq demo --json` printed: every step's weights are recomputed from the tensors posted, the trainer is
 * run again with the weights received, parameters must differ from the unweighted run's as soon as the weights matter, and the
 * last steps must earn more than the first. Takes the default configuration only.
 *
 *     tsx scripts/check-demo.ts FILE...     (no file: standard input)
 */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { createTrainer, type Rollout } from "../src/commands/demo/trainer.js";
import {
  combinedWeights,
  confidenceWeights,
  difficultyWeights,
  grpoAdvantages,
  magnitudeWeights,
  type Posted,
  rewardsOf,
} from "./recompute-weights.js";

/** Weights travel as float32, and the combined ones are a product of three. */
const TOLERANCE = 2e-6;

const CONFIG = {
  pipelines: {
    difficulty: {
      mechanism: "select",
      scorer: { name: "group_solve_rate", params: { success_threshold: 0.5 } },
      actuator: { name: "threshold_band", params: { low: 0, high: 1 } },
    },
    magnitude: {
      mechanism: "reweight",
      scorer: { name: "advantage_magnitude" },
      actuator: { name: "softmax", params: { temperature: 1 } },
    },
    confidence: {
      mechanism: "reweight",
      scorer: { name: "token_prob" },
      actuator: { name: "advantage_reweight", params: { alpha: 0.5 } },
    },
  },
};

interface Received {
  readonly name: string;
  readonly weights: number[] | number[][];
  readonly kept?: number[];
  readonly producer: { readonly pid: number; readonly job_id: string };
}
interface Step {
  readonly kind: "step";
  readonly step: number;
  readonly reward: number;
  readonly params_sha256: string;
  readonly posted: Posted;
  readonly received: readonly Received[];
  readonly combined: number[][];
  readonly unweighted: { readonly params_sha256: string };
}

/** Every fault found in one run's lines; empty: the run is what it says it is. */
export function checkDemo(text: string): string[] {
  const lines = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const [start, summary] = [lines[0]!, lines.at(-1)!];
  const steps = lines.filter((line) => line.kind === "step") as unknown as Step[];
  if (start.kind !== "start" || summary.kind !== "summary")
    return ["the output is cut off: it begins with start and ends with summary"];
  if (!isDeepStrictEqual(start.dataflex, CONFIG))
    return ["not the default configuration, which is the one this check knows"];
  const faults = steps.flatMap((step) => checkWeights(step).map((fault) => `step ${step.step}: ${fault}`));
  faults.push(...checkTraining(Number(start.seed), steps));
  faults.push(...checkJobs(steps));
  if (steps.length !== start.steps) faults.push(`${steps.length} steps of ${start.steps}`);
  const window = Math.max(1, Math.min(10, Math.floor(steps.length / 2)));
  const [first, last] = [mean(steps.slice(0, window)), mean(steps.slice(-window))];
  if (!(last > first))
    faults.push(`mean reward of the last ${window} steps, ${last}, does not beat that of the first, ${first}`);
  return faults;
}

function checkWeights({ posted, received, combined }: Step): string[] {
  const of = (name: string): Received => {
    const found = received.find((r) => r.name === name);
    if (found === undefined) throw new Error(`no weights of pipeline ${name}`);
    return found;
  };
  const difficulty = difficultyWeights(posted);
  const kept = difficulty.flatMap((w, row) => (w > 0 ? [row] : []));
  return [
    ...differences(
      "advantages posted",
      posted.post_advantage.advantages,
      grpoAdvantages(posted).map((a, row) => posted.post_advantage.advantages[row]!.map(() => a)),
    ),
    ...differences("difficulty", of("difficulty").weights, difficulty),
    ...(isDeepStrictEqual(of("difficulty").kept, kept) ? [] : ["difficulty: other rows kept"]),
    ...differences("magnitude", of("magnitude").weights, magnitudeWeights(posted)),
    ...differences("confidence", of("confidence").weights, confidenceWeights(posted)),
    ...differences("combined", combined, combinedWeights(posted)),
  ];
}

function differences(
  what: string,
  got: readonly (number | readonly number[])[],
  want: readonly (number | readonly number[])[],
): string[] {
  const [a, b] = [got.flat(), want.flat()];
  if (a.length !== b.length) return [`${what}: ${a.length} numbers instead of ${b.length}`];
  const at = a.findIndex((x, i) => !(Math.abs(x - b[i]!) <= TOLERANCE * Math.max(1, Math.abs(b[i]!))));
  return at === -1 ? [] : [`${what}: number ${at} is ${a[at]}, recomputed ${b[at]}`];
}

/** The parameters must follow from seed and weights, and leave those of the unweighted run when the weights matter. */
function checkTraining(seed: number, steps: readonly Step[]): string[] {
  const trainer = createTrainer(seed);
  const plain = createTrainer(seed);
  const faults: string[] = [];
  let mattered = false;
  for (const { step, posted, combined, reward, params_sha256, unweighted } of steps) {
    const rollout = trainer.rollout(step);
    const weights = padded(combined, rollout);
    if (!isDeepStrictEqual(posted.post_advantage.old_log_probs.flat(), inResponses(rollout.old_log_probs, rollout))) {
      faults.push(`step ${step}: old_log_probs posted are not the policy's`);
    }
    if (!isDeepStrictEqual(rewardsOf(posted), [...rollout.rewards]))
      faults.push(`step ${step}: rewards posted are not those earned`);
    if (Math.abs(reward - rollout.rewards.reduce((a, b) => a + b, 0) / rollout.rows) > 1e-12)
      faults.push(`step ${step}: reward`);
    trainer.update(rollout, weights);
    plain.update(plain.rollout(step));
    if (trainer.policy.hash() !== params_sha256)
      faults.push(`step ${step}: the parameters do not follow from the weights`);
    if (plain.policy.hash() !== unweighted.params_sha256) faults.push(`step ${step}: the unweighted run is another`);
    mattered ||= rollout.advantages.some((a, at) => a !== 0 && weights[at] !== 1);
    if (mattered === (params_sha256 === unweighted.params_sha256)) {
      faults.push(
        `step ${step}: parameters ${mattered ? "equal" : "differ"} though weights ${mattered ? "differ" : "are one"}`,
      );
    }
  }
  return faults;
}

function checkJobs(steps: readonly Step[]): string[] {
  const jobs = steps.flatMap(({ received }) => received.map(({ producer }) => producer));
  const ids = new Set(jobs.map(({ job_id }) => job_id));
  const faults = ids.size === jobs.length ? [] : ["two results name the same job"];
  if (jobs.some(({ pid }) => !Number.isInteger(pid) || pid <= 0)) faults.push("a result names no worker process");
  return faults;
}

function padded(rows: readonly (readonly number[])[], { width }: Rollout): Float32Array {
  const matrix = new Float32Array(rows.length * width);
  for (const [row, values] of rows.entries()) matrix.set(values, row * width);
  return matrix;
}

function inResponses(matrix: Float32Array, { responses, width }: Rollout): number[] {
  return responses.flatMap((response, row) => Array.from(matrix.subarray(row * width, row * width + response.length)));
}

function mean(steps: readonly Step[]): number {
  return steps.reduce((total, { reward }) => total + reward, 0) / steps.length;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const files = process.argv.slice(2);
  for (const file of files.length === 0 ? ["/dev/stdin"] : files) {
    const faults = checkDemo(readFileSync(file, "utf8"));
    console.log(faults.length === 0 ? `ok      ${file}` : `FAILED  ${file}\n  ${faults.slice(0, 20).join("\n  ")}`);
    if (faults.length > 0) process.exitCode = 1;
  }
}
