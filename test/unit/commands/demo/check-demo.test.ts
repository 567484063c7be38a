import { beforeAll, describe, expect, test } from "vitest";
import { checkDemo } from "../../../../scripts/check-demo.js";
import {
  combinedWeights,
  confidenceWeights,
  difficultyWeights,
  magnitudeWeights,
  type Posted,
} from "../../../../scripts/recompute-weights.js";
import { DEFAULT_DEMO_CONFIG } from "../../../../src/commands/demo/default-config.js";
import { type Exchange, stepRecord } from "../../../../src/commands/demo/demo-record.js";
import { trainLoop, unweightedStep } from "../../../../src/commands/demo/loop.js";
import { createTrainer, type Rollout } from "../../../../src/commands/demo/trainer.js";
import { perResponse } from "../../../../src/commands/demo/weighing.js";

const STEPS = 20;
let lines: string[];

/** A run whose weights are right without any service, in the form that `demo --json` prints. */
beforeAll(async () => {
  const plain = createTrainer(1);
  lines = [JSON.stringify({ kind: "start", steps: STEPS, seed: 1, dataflex: DEFAULT_DEMO_CONFIG })];
  for await (const result of trainLoop({ steps: STEPS, seed: 1 }, async (rollout) => weigh(rollout))) {
    lines.push(JSON.stringify({ ...stepRecord(result), unweighted: unweightedStep(plain, result.step) }));
  }
  lines.push(JSON.stringify({ kind: "summary" }));
});

function weigh(rollout: Rollout): { weights: Float32Array; extra: Exchange } {
  const posted: Posted = {
    post_reward: {
      rm_scores: perResponse(rollout.rm_scores, rollout),
      response_mask: perResponse(rollout.response_mask, rollout),
      uid: [...rollout.uid],
    },
    post_advantage: {
      advantages: perResponse(rollout.advantages, rollout),
      old_log_probs: perResponse(rollout.old_log_probs, rollout),
      response_mask: perResponse(rollout.response_mask, rollout),
    },
  };
  const matrix = (rows: number[][]): Float32Array => {
    const out = new Float32Array(rollout.rows * rollout.width);
    for (const [row, values] of rows.entries()) out.set(values, row * rollout.width);
    return out;
  };
  const difficulty = difficultyWeights(posted);
  const pipeline = (name: string, weights: Float32Array, kept?: Int32Array) => ({
    name,
    mechanism: "reweight",
    stage: "post_advantage",
    weights,
    ...(kept === undefined ? {} : { kept }),
    flags: [],
    producer: { worker: "w", pid: 7, job_id: `${name}-${rollout.step}` },
  });
  return {
    weights: matrix(combinedWeights(posted)),
    extra: {
      posted: {
        post_reward: ["rm_scores", "response_mask", "uid"],
        post_advantage: ["advantages", "old_log_probs", "response_mask"],
      },
      pipelines: [
        pipeline(
          "difficulty",
          Float32Array.from(difficulty),
          Int32Array.from(difficulty.flatMap((w, i) => (w ? [i] : []))),
        ),
        pipeline("magnitude", Float32Array.from(magnitudeWeights(posted))),
        pipeline("confidence", matrix(confidenceWeights(posted))),
      ],
      wait_ms: 0,
    },
  };
}

test("a right run passes", () => {
  expect(checkDemo(lines.join("\n"))).toEqual([]);
});

/** A step's line, to be tampered with. */
interface Line {
  params_sha256: string;
  posted: { post_reward: { rm_scores: number[][] }; post_advantage: { advantages: number[][] } };
  received: [{ kept: number[] }, { weights: number[]; producer: { job_id: string } }, { weights: number[][] }];
  combined: number[][];
  unweighted: { params_sha256: string };
}

const TAMPERINGS: Readonly<Record<string, readonly [change: (line: Line) => unknown, fault: RegExp]>> = {
  "a weight off by 1e-5": [(line) => add(line.received[1].weights, 3, 1e-5), /step 5: magnitude: number 3/],
  "a token weight off": [(line) => add(line.received[2].weights[0]!, 0, 1e-3), /confidence: number 0/],
  "a row kept too many": [(line) => line.received[0].kept.push(999), /other rows kept/],
  "a combined weight off": [(line) => add(line.combined[40]!, 0, 0.5), /combined: number/],
  "other parameters": [(line) => Object.assign(line, { params_sha256: "0" }), /do not follow from the weights/],
  "the unweighted parameters": [(line) => Object.assign(line, line.unweighted), /equal though weights differ/],
  "another unweighted run": [
    (line) => Object.assign(line.unweighted, { params_sha256: "0" }),
    /unweighted run is another/,
  ],
  "another formula": [({ posted }) => add(posted.post_advantage.advantages[0]!, 0, 1), /advantages posted/],
  "a reward never earned": [({ posted }) => add(posted.post_reward.rm_scores[0]!, 0, 1), /not those earned/],
  "a job twice": [(line) => Object.assign(line.received[1].producer, { job_id: "magnitude-1" }), /name the same job/],
};

function add(values: number[], at: number, by: number): void {
  values[at] = values[at]! + by;
}

describe("a wrong one does not", () => {
  test.each(Object.entries(TAMPERINGS))("%s", (_, [change, fault]) => {
    const copy = [...lines];
    const line = JSON.parse(copy[5]!) as Line;
    change(line);
    copy[5] = JSON.stringify(line);
    expect(checkDemo(copy.join("\n")).join("\n")).toMatch(fault);
  });

  test("output that is cut off", () => {
    expect(checkDemo(lines.slice(0, -1).join("\n"))[0]).toMatch(/cut off/);
  });
});
