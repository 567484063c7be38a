import type { Mechanism } from "../../protocol/pipeline-spec.js";
import type { FailureRecord, ResultRecord } from "../history/history-record.js";
import { flapping } from "./flapping.js";
import type { JudgedStep } from "./judged-steps.js";
import { track, worst } from "./track.js";
import { type JudgedWeights, type Sight, STEP_RULES, WEIGHT_RULES } from "./verdict-rules.js";
import { COMBINED, type Reason, type Verdict } from "./verdict-types.js";

export interface JudgedPipeline {
  readonly name: string;
  readonly mechanism: Mechanism;
  readonly delivered: boolean;
}

/**
 * Judges the steps of a run, ascending: what the loss takes first, then each delivered pipeline. Shadows are not judged, mixers not by weights.
 */
export function judge(steps: readonly JudgedStep[], pipelines: readonly JudgedPipeline[]): Reason[] {
  const delivered = pipelines.filter((p) => p.delivered);
  const sights = sightsOf(steps, delivered);
  const subjects = [combinedOf(steps), ...delivered.map((p) => weightsOf(steps, p))];
  const ofSteps = STEP_RULES.flatMap((rule) => track(rule, sights) ?? []);
  const ofWeights = WEIGHT_RULES.flatMap((rule) => oneOf(subjects.flatMap((weights) => track(rule, weights) ?? [])));
  const found = [...ofSteps, ...ofWeights];
  return found.length > 0 ? found : flapping(sights, subjects.flat());
}

/** The verdict that reasons make. */
export function verdictOf(reasons: readonly Reason[]): Verdict {
  const level = worst(reasons.map((r) => r.level));
  const rank = (r: Reason): number => (r.level === "bad" ? 0 : 1);
  const sorted = reasons.toSorted((a, b) => rank(a) - rank(b));
  const steps = sorted.flatMap((r) => (r.level === level && r.since_step !== null ? [r.since_step] : []));
  return { level, since_step: steps.length === 0 ? null : Math.min(...steps), reasons: sorted };
}

/** The most severe of what a rule says of several subjects; of equal ones the first, which is what the loss takes. */
function oneOf(reasons: readonly Reason[]): Reason[] {
  const first = reasons.find((r) => r.level === "bad") ?? reasons[0];
  return first ? [first] : [];
}

function sightsOf(steps: readonly JudgedStep[], delivered: readonly JudgedPipeline[]): Sight[] {
  let before: JudgedStep["release"];
  return steps.map(({ step, outcomes, release }) => {
    const all = delivered.flatMap(({ name }) => outcomes.get(name) ?? []);
    const results = all.filter((o): o is ResultRecord => o.kind === "result");
    const failures = all.filter((o): o is FailureRecord => o.kind === "failure");
    const interval = release && before ? release.at - before.at : undefined;
    before = release ?? before;
    return { step, release, interval, results, failures };
  });
}

function combinedOf(steps: readonly JudgedStep[]): JudgedWeights[] {
  return steps.flatMap(({ step, release }): JudgedWeights[] => {
    const { combined } = release ?? {};
    if (!combined) return [];
    return [
      {
        pipeline: COMBINED,
        step,
        level: combined.level === "token" ? "token" : "row",
        stats: combined.stats,
      },
    ];
  });
}

function weightsOf(steps: readonly JudgedStep[], { name, mechanism }: JudgedPipeline): JudgedWeights[] {
  if (mechanism === "mix") return [];
  return steps.flatMap(({ step, outcomes }): JudgedWeights[] => {
    const outcome = outcomes.get(name);
    if (outcome?.kind !== "result" || !outcome.stats || outcome.granularity === "domain") return [];
    return [{ pipeline: name, step, level: outcome.granularity, stats: outcome.stats }];
  });
}
