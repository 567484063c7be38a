import { createHash } from "node:crypto";
import type { Rng } from "../../scoring/batch/rng.js";
import { ANSWER_LENGTHS, END, SYMBOLS, TASK_KINDS, type Task } from "./tasks.js";

const ACTIONS = SYMBOLS + 1;
/** A response is cut here if it has not ended by itself. */
export const MAX_RESPONSE = Math.max(...ANSWER_LENGTHS) + 3;
const MOVE_ROWS = TASK_KINDS.length * SYMBOLS;
const STOP_ROWS = (Math.max(...ANSWER_LENGTHS) + 1) * MAX_RESPONSE;

/** What the policy looks at before a token: the rows of its two logit tables (offsets into `params`). */
interface Context {
  readonly move: number;
  readonly stop: number;
}

/**
 * A small autoregressive softmax policy: logits of the next symbol = `move[kind, previous symbol] + stop[length, position]`,
 * two tables of `(…, 5)` float64 parameters that start at zero (every symbol equally likely). Sharing the tables between tasks
 * is what lets short tasks teach long ones.
 */
export class Policy {
  readonly params = new Float64Array((MOVE_ROWS + STOP_ROWS) * ACTIONS);

  /** A response sampled token by token; ends with the end symbol or is cut at `MAX_RESPONSE`. */
  sample(task: Task, rng: Rng): number[] {
    const response: number[] = [];
    while (response.length < MAX_RESPONSE) {
      const symbol = draw(this.probabilities(contextAt(task, response, response.length)), rng());
      response.push(symbol);
      if (symbol === END) break;
    }
    return response;
  }

  /** Per token of `response`: log-probability of the symbol taken and entropy of the choice, in nats, float64. */
  evaluate(task: Task, response: readonly number[]): { logProbs: number[]; entropies: number[] } {
    const logProbs: number[] = [];
    const entropies: number[] = [];
    for (let t = 0; t < response.length; t++) {
      const p = this.probabilities(contextAt(task, response, t));
      logProbs.push(Math.log(p[response[t]!]!));
      entropies.push(p.reduce((sum, x) => (x > 0 ? sum - x * Math.log(x) : sum), 0));
    }
    return { logProbs, entropies };
  }

  /** Adds `scale · ∂ log π(response[t]) / ∂ params` to `gradient`. */
  addLogProbGradient(gradient: Float64Array, task: Task, response: readonly number[], t: number, scale: number): void {
    const context = contextAt(task, response, t);
    const p = this.probabilities(context);
    for (let a = 0; a < ACTIONS; a++) {
      const partial = scale * ((a === response[t] ? 1 : 0) - p[a]!);
      gradient[context.move + a]! += partial;
      gradient[context.stop + a]! += partial;
    }
  }

  /** SHA-256 of the parameters' bytes (float64, little-endian), in hex: equal exactly when all parameters are. */
  hash(): string {
    return createHash("sha256").update(new Uint8Array(this.params.buffer)).digest("hex");
  }

  private probabilities(context: Context): number[] {
    const logits = Array.from(
      { length: ACTIONS },
      (_, a) => this.params[context.move + a]! + this.params[context.stop + a]!,
    );
    const top = Math.max(...logits);
    const powers = logits.map((logit) => Math.exp(logit - top));
    const total = powers.reduce((sum, x) => sum + x, 0);
    return powers.map((power) => power / total);
  }
}

function contextAt(task: Task, response: readonly number[], t: number): Context {
  const previous = t === 0 ? task.start : response[t - 1]!;
  return {
    move: (TASK_KINDS.indexOf(task.kind) * SYMBOLS + previous) * ACTIONS,
    stop: (MOVE_ROWS + task.length * MAX_RESPONSE + t) * ACTIONS,
  };
}

/** The action whose cumulative probability first exceeds `u`; where rounding leaves a gap, the last possible one. */
function draw(probabilities: readonly number[], u: number): number {
  let cumulative = 0;
  let last = 0;
  for (let a = 0; a < probabilities.length; a++) {
    if (probabilities[a] === 0) continue; // its log-probability would be -Infinity
    cumulative += probabilities[a]!;
    last = a;
    if (u < cumulative) break;
  }
  return last;
}
