import { beforeAll, describe, expect, it } from "vitest";
import { seededRng } from "../../src/scoring/batch/rng.js";
import { BUILT_INS } from "../../src/scoring/components/catalogue.js";
import type { Mixer, Policy } from "../../src/scoring/components/component-types.js";
import { betaDraw } from "../../src/scoring/mix/beta.js";
import { DomainSeries } from "../../src/scoring/mix/series.js";
import { runMixer } from "../../src/testing/run-mixer.js";
import { runPolicy } from "../../src/testing/run-policy.js";
import { askTorch, firstDifference } from "./ask-torch.js";
import { type MixerRun, mixerRun } from "./domain-histories.js";
import { type FedStep, type PolicyRun, policyRun } from "./prompt-histories.js";

const HISTORIES = 200;
const each = Array.from({ length: HISTORIES }, (_, k) => k);

const mixers = BUILT_INS.filter((c): c is Mixer => c.kind === "mixer");
const policies = BUILT_INS.filter((c): c is Policy => c.kind === "policy");
const mixerRuns: MixerRun[] = mixers.flatMap(({ name }) => each.map((k) => mixerRun(name, k)));
const policyRuns: PolicyRun[] = policies.flatMap(({ name }) => each.map((k) => policyRun(name, k)));
const runs = [...mixerRuns, ...policyRuns];

let answers: Map<MixerRun | PolicyRun, number[][]>;

beforeAll(() => {
  const torch = askTorch({ steps: [], runs });
  answers = new Map(runs.map((run, n) => [run, torch.answers[n]!]));
});

describe.each(mixers)("mixer $name", (mixer) => {
  it(`agrees with PyTorch on ${HISTORIES} random histories`, () => {
    const own = mixerRuns.filter(({ name }) => name === mixer.name);
    expect(own).toHaveLength(HISTORIES);
    for (const [k, run] of own.entries()) {
      const have = runMixer(mixer, new DomainSeries(run.series), run.params, run.step);
      const wrong = firstDifference([have], answers.get(run)!);
      expect(wrong, `history ${k}, ${JSON.stringify(run.params)}: ${wrong}`).toBeUndefined();
    }
  });
});

describe.each(policies)("policy $name", (policy) => {
  it(`agrees with PyTorch on ${HISTORIES} random histories`, async () => {
    const own = policyRuns.filter(({ name }) => name === policy.name);
    expect(own).toHaveLength(HISTORIES);
    for (const [k, run] of own.entries()) {
      const wrong = await policyDifference(policy, run, answers.get(run)!);
      expect(wrong, `history ${k}, ${JSON.stringify(run.params)}: ${wrong}`).toBeUndefined();
    }
  });
});

async function policyDifference(policy: Policy, run: PolicyRun, want: number[][]): Promise<string | undefined> {
  if (policy.name === "greso") return drawsDifference(policy, run, want[0]!);
  if (policy.name === "mopps") return posteriorDifference(policy, run, want);
  const { kept, weights, metrics } = await choice(policy, run);
  if (policy.name !== "adarft") return firstDifference([[...weights!.values]], want);
  return firstDifference([[metrics.target_difficulty!], [...kept]], want);
}

/**
 * GRESO shows its probabilities only through draws. The draws are known, though: they follow from run, step, trigger and key alone. So
 * whoever is drawn below torch's probability must be left out, and nobody else, under several runs for as many draws.
 */
async function drawsDifference(policy: Policy, run: PolicyRun, skip: readonly number[]): Promise<string | undefined> {
  for (let draw = 0; draw < 8; draw++) {
    const name = `run-${draw}`;
    const { kept } = await choice(policy, run, name);
    const rows = run.candidates.dataset_key.flatMap((key, i) =>
      seededRng("greso", name, run.fed.length + 1, 0, key)() >= skip[i]! ? [i] : [],
    );
    const wrong = firstDifference([[...kept]], [rows]);
    if (wrong !== undefined) return `${name}: ${wrong}`;
  }
  return undefined;
}

/** MoPPS shows its posterior through draws as well: drawn with torch's α and β, the nearest to the target must be those that are kept. */
async function posteriorDifference(policy: Policy, run: PolicyRun, want: number[][]): Promise<string | undefined> {
  const [alphas, betas] = want as [number[], number[]];
  const { batch_size, target } = run.params as { batch_size: number; target: number };
  for (let draw = 0; draw < 4; draw++) {
    const name = `run-${draw}`;
    const { kept } = await choice(policy, run, name);
    const distances = run.candidates.dataset_key.map((key, i) => {
      const rng = seededRng("mopps", name, run.fed.length + 1, 0, key);
      return Math.fround((betaDraw(alphas[i]!, betas[i]!, rng) - target) ** 2);
    });
    const nearest = [...distances.keys()].sort((i, j) => distances[i]! - distances[j]! || i - j).slice(0, batch_size);
    const wrong = firstDifference([[...kept]], [nearest.sort((i, j) => i - j)]);
    if (wrong !== undefined) return `${name}: ${wrong}`;
  }
  return undefined;
}

function choice(policy: Policy, { fed, candidates, params }: PolicyRun, run = "parity") {
  const { dataset_key, difficulty } = candidates;
  const offered = policy.name === "adarft" ? { dataset_key, difficulty } : { dataset_key };
  return runPolicy(policy, fed.map(fieldsOf), offered, params, { run, settings: { on_empty: "drop_all" } });
}

function fieldsOf({ mask, lengths, uid, session, dataset_key, fields }: FedStep) {
  const ragged = (matrix: number[][]) => matrix.map((row, i) => row.slice(0, lengths[i]!));
  return {
    response_mask: ragged(mask),
    rm_scores: ragged(fields.rm_scores),
    uid,
    dataset_key,
    ...(session && { session }),
  };
}
