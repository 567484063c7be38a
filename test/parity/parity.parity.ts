import { beforeAll, describe, expect, it } from "vitest";
import { seededRng } from "../../src/scoring/batch/rng.js";
import { BUILT_INS } from "../../src/scoring/components/catalogue.js";
import type { RowComponent } from "../../src/scoring/components/component-types.js";
import { perAdvantage } from "../../src/scoring/components/reweighters/per-advantage.js";
import { softmax } from "../../src/scoring/components/reweighters/softmax.js";
import { dapoFilter } from "../../src/scoring/components/selectors/dapo-filter.js";
import { topkFraction } from "../../src/scoring/components/selectors/topk-fraction.js";
import { keptRows, rowWeights } from "../helpers/act.js";
import { expectClose } from "../helpers/close.js";
import { REQUIRED, VARIANTS } from "../helpers/component-variants.js";
import { askTorch, firstDifference, type TorchAnswers } from "./ask-torch.js";
import { ours, type Params } from "./ours.js";
import { batchOf, type RandomStep, randomStep } from "./steps.js";

const STEPS = 200;

/** The scores an actuator is compared on: a column or token field of the random steps, several in turn. */
const SCORES: Readonly<Record<string, readonly string[]>> = {
  "reweighter softmax": ["reward", "signed"],
  "reweighter difficulty_band": ["reward", "signed"],
  "reweighter advantage_reweight": ["probability"],
  "reweighter per_advantage": ["signed"],
  "reweighter awr": ["signed", "reward"],
  "reweighter raft": ["reward", "signed"],
  "reweighter pf_ppo": ["reward", "signed"],
  "reweighter psr_nsr": ["reward"],
  "reweighter grpo_lead": ["rate"],
  "reweighter odsw": ["rate"],
  "reweighter delta_l": ["length"],
  "reweighter overlong_filter": ["cut"],
  "reweighter entropy_topk": ["entropy"],
  "reweighter gtpo": ["entropy"],
  "reweighter rollout_is": ["ratio"],
  "reweighter staleness_decay": ["age"],
  "reweighter maxrl": ["reward", "rate"],
  "reweighter vespo": ["product"],
  "reweighter length_weight": ["length"],
  "reweighter difficulty_weight": ["rate", "signed"],
  "selector threshold_band": ["rate", "reward"],
  "selector topk_fraction": ["reward", "signed"],
  "selector gfpo": ["reward"],
  "selector gfpo_adaptive": ["rate", "reward"],
  "selector max_variance": ["reward", "signed"],
  "selector difficulty_filter": ["rate", "reward"],
  "selector dapo_filter": ["reward", "cut"],
  "selector best_and_worst": ["reward", "signed"],
  "selector advantage_gate": ["signed"],
  "selector entropy_topk": ["entropy"],
  "selector staleness_cutoff": ["age"],
  "selector opsm": ["product"],
  "selector tv_gate": ["divergence"],
  "selector signed_gate": ["divergence"],
  "selector veto": ["ratio"],
  "selector m2po": ["ratio"],
  "selector clip_cov": ["entropy", "divergence"],
};

const components = BUILT_INS.filter((c): c is RowComponent => c.kind !== "mixer" && c.kind !== "policy").map(
  (component) => ({ id: `${component.kind} ${component.name}`, component }),
);

interface Run {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly step: number;
  readonly params: Params;
  readonly scores?: string;
  /** What earlier steps left with a selector that remembers. */
  readonly history?: readonly number[][];
}

/** Every fourth step has too short a history to adapt to. */
function historyOf(step: number): number[][] {
  const rng = seededRng("history", step);
  return Array.from({ length: step % 4 === 0 ? 9 : 12 }, () =>
    Array.from({ length: 5 }, () => Math.round(20 * rng()) / 20),
  );
}

const steps: RandomStep[] = Array.from({ length: STEPS }, (_, k) => randomStep(k));
const runs: Run[] = components.flatMap(({ id, component }) => {
  const variants = [{}, ...(VARIANTS[id] ?? [])];
  const { kind, name } = component;
  return steps.map((_, step) => {
    const params = { ...REQUIRED[id], ...variants[step % variants.length] };
    // Variants and scores turn at different speeds, so that each meets each.
    const own = SCORES[id];
    return {
      id,
      kind,
      name,
      step,
      params,
      ...(component.kind === "selector" && component.remember && { history: historyOf(step) }),
      ...(own && { scores: own[Math.floor(step / variants.length) % own.length]! }),
    };
  });
});

let torch: TorchAnswers;

beforeAll(() => {
  torch = askTorch({ steps, runs });
});

describe.each(components)("$id", ({ id, component }) => {
  it(`agrees with PyTorch on ${STEPS} random steps`, async () => {
    const own = runs.map((run, n) => ({ run, n })).filter(({ run }) => run.id === id);
    expect(own).toHaveLength(STEPS);
    for (const { run, n } of own) {
      const step = steps[run.step]!;
      const have = await ours(component, batchOf(step, run.step), step, run.params, run);
      const wrong = firstDifference(have, torch.answers[n]!);
      const where = `step ${run.step}, ${JSON.stringify(run.params)}, scores ${run.scores ?? "none"}`;
      expect(wrong, `${id}, ${where}: ${wrong}`).toBeUndefined();
    }
  });
});

/** First what the Python original (or verl) computes, done in PyTorch; then what we give; the title says why. */
describe("where we differ from the original on purpose", () => {
  it("padding rows do not water down the weights of real rows", async () => {
    const is_padding = [false, false, true, true];
    expectClose(torch.originals["softmax over padding"]!, [1.462117, 1.462117, 0.537883, 0.537883]);
    expectClose(await rowWeights(softmax, [1, 1, 0, 0], { is_padding }), [1, 1, 0, 0]);
  });

  it("a step whose weights are all tiny still has mean one", async () => {
    expectClose(torch.originals["per_advantage of zeros"]!, [1e-8, 1e-8, 1e-8, 1e-8], 1e-12);
    expect(await rowWeights(perAdvantage, [0, 0, 0, 0], { params: { alpha: 2 } })).toEqual([1, 1, 1, 1]);
  });

  it("a temperature of 0 or less is refused instead of inverting the preference", async () => {
    const [small, large] = torch.originals["softmax below 0"]! as [number, number];
    expect(small).toBeGreaterThan(large);
    await expect(rowWeights(softmax, [1, 2], { params: { temperature: -1 } })).rejects.toMatchObject({
      code: "CONFIG",
    });
  });

  it("a group of equal scores is equal, whatever rounding leaves of its deviation", async () => {
    expect(torch.originals["deviation of three tenths"]![0]).toBeLessThan(1e-15);
    expect(await keptRows(dapoFilter, [0.1, 0.1, 0.1])).toEqual([]);
    expect(await keptRows(dapoFilter, [0.1 + 0.2, 0.3, 0.3])).toEqual([]);
  });

  it("ties are settled by row number, where torch.topk promises nothing", async () => {
    expect(new Set(torch.originals["topk of ties"])).not.toEqual(new Set([1, 2, 3]));
    expect(await keptRows(topkFraction, [0, 1, 1, 1, 1, 0])).toEqual([1, 2, 3]);
  });
});
