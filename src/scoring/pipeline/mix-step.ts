import { DataflexError } from "../../errors.js";
import { stateOf } from "../../protocol/pipeline-state.js";
import { compareSteps, NO_STATE, readSteps, type StateStep, type StateValue } from "../../protocol/saved-state.js";
import type { Distribution } from "../../protocol/statistics-messages.js";
import { liveRows } from "../batch/frame.js";
import { DomainSeries, type DomainStep } from "../mix/series.js";
import { uniform } from "../mix/simplex.js";
import type { CallOptions } from "./call-component.js";
import { domainRows } from "./domain-rows.js";
import { Notes } from "./notes.js";
import type { PipelineInput, PipelineOutcome } from "./outcome.js";
import { proposeShares } from "./propose.js";
import { remembered } from "./remember.js";
import { scoreRows } from "./score.js";
import { scoreBins, scoreStats } from "./stats.js";

/**
 * Scores a step, adds it to the domains' history and proposes the shares with which the next prompts are drawn. They change only at
 * updates (`warmup_step` + k · `update_step`): at step s they follow from the steps up to the last update ≤ s, so only the
 * steps themselves are ever stored. Pure: the same input gives the same outcome.
 * @throws DataflexError INVALID_INPUT (a domain that is not configured), NON_FINITE, COMPONENT, COMPONENT_UNKNOWN, DECODE, CONFIG.
 */
export async function mixStep(input: PipelineInput, options: CallOptions = {}): Promise<PipelineOutcome> {
  const { spec, registry, run, state = NO_STATE } = input;
  const mixer = registry.get("mixer", spec.actuator.name);
  const domains = spec.domains ?? [];
  if (domains.length === 0) {
    throw new DataflexError("CONFIG", `pipeline '${spec.name}' mixes no domains: list them`, { pipeline: spec.name });
  }
  const prior = spec.prior ?? uniform(domains.length);
  const { step, usable, notes, score_stats, distribution } = await measure(input, options);
  if (run.step < spec.warmup_step) {
    notes.flag("warmup");
    return outcome(prior);
  }
  const update = run.step - ((run.step - spec.warmup_step) % spec.update_step);
  const now = { step: run.step, trigger: run.trigger };
  const { steps, others } = readSteps(
    state,
    stateOf(spec)!.by,
    update === run.step ? now : { step: update, trigger: Infinity },
  );
  if (others > 0) notes.warn("earlier steps of this run were scored by another scorer: they do not count in the mix");
  const history: DomainStep[] = steps
    .filter((earlier) => compareSteps(earlier, now) !== 0)
    .map((earlier) => domainStep(earlier, domains));
  if (usable && update === run.step) history.push(step);
  notes.count("steps_counted", history.length);
  const { warmup_step, update_step, window } = spec;
  const series = new DomainSeries({ domains, prior, steps: history, window, warmup_step, update_step });
  return outcome(await proposeShares(spec, mixer, series, { ...run, step: update }, notes));

  function outcome(shares: readonly number[]): PipelineOutcome {
    const values = domains
      .map((name, d): StateValue => [name, step.sums[d]!, step.counts[d]!])
      .filter(([, , count]) => count! > 0);
    const remember = usable ? remembered(mixer, spec, values) : undefined;
    return {
      granularity: "domain",
      proportions: Object.fromEntries(domains.map((name, d) => [name, shares[d]!])),
      ...(remember && { remember }),
      ...(score_stats && { score_stats }),
      ...(distribution && { distribution }),
      ...notes.all,
    };
  }
}

/** Sum of scores and number of live rows of each domain in the current step. */
async function measure({ spec, registry, batch, run }: PipelineInput, options: CallOptions) {
  const domains = spec.domains ?? [];
  const rowsOf = domainRows(spec, batch);
  const scorer = spec.scorer === undefined ? undefined : registry.get("scorer", spec.scorer.name);
  if (scorer?.granularity === "token") {
    const message = `mixer '${spec.actuator.name}' takes one score per row, scorer '${scorer.name}' gives one per token`;
    throw new DataflexError("COMPONENT", message, { scorer: scorer.name });
  }
  const scored = scorer && (await scoreRows(spec, scorer, batch, run, options));
  const notes = new Notes(scored?.warnings, scored?.metrics);
  for (const flag of scored?.flags ?? []) notes.flag(flag);
  const sums = domains.map(() => 0);
  const counts = domains.map(() => 0);
  for (const row of liveRows(batch.without(scored?.dropped ?? []).frame)) {
    sums[rowsOf[row]!]! += scored?.values[row] ?? 0;
    counts[rowsOf[row]!]! += 1;
  }
  const huge = sums.findIndex((sum) => !Number.isFinite(sum));
  if (huge >= 0) {
    const message = `the scores of domain "${domains[huge]}" add up to ${sums[huge]}: they are too large for a mean`;
    throw new DataflexError("NON_FINITE", message, { domain: domains[huge] });
  }
  for (const [d, name] of domains.entries()) {
    notes.count(`rows/${name}`, counts[d]!);
    if (scored !== undefined && counts[d]! > 0) notes.count(`mean/${name}`, sums[d]! / counts[d]!);
  }
  if (batch.liveCount === 0) notes.flag("no_live_rows");
  const step: DomainStep = { step: run.step, trigger: run.trigger, sums, counts };
  const usable = scored?.flags.includes("neutral_nonfinite") !== true;
  const distribution: Distribution | undefined =
    scored && usable ? { scores: scoreBins(scored, batch.without(scored.dropped)) } : undefined;
  return { step, usable, notes, score_stats: scored && scoreStats(scored.moments), distribution };
}

function domainStep({ step, trigger, values }: StateStep, domains: readonly string[]): DomainStep {
  const known = new Map(values.map(([name, sum = 0, count = 0]) => [name, { sum, count }]));
  return {
    step,
    trigger,
    sums: domains.map((name) => known.get(name)?.sum ?? 0),
    counts: domains.map((name) => known.get(name)?.count ?? 0),
  };
}
