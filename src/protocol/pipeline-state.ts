import type { PipelineSpec } from "./pipeline-spec.js";

/** What a pipeline remembers of earlier steps, one entry a step. */
export interface PipelineState {
  /** The pipeline that adds to it, and under whose name Redis keeps it: a policy uses the state of its feeding pipeline. */
  readonly owner: string;
  /** What made the numbers: scorer and parameters, selector or policy. Numbers made otherwise are not comparable. */
  readonly by: string;
  /** Whether the pipeline's results depend on it. A feeding pipeline only adds to it. */
  readonly reads: boolean;
  /** How many steps are kept unless the component says otherwise; the oldest is forgotten first. */
  readonly keep: number;
}

/** More steps than a run has, and still read in some milliseconds: an entry is a few numbers per domain. */
const MIX_STEPS = 20_000;
/** An entry may hold a number for each prompt of a step. */
const COMPONENT_STEPS = 1_000;

/** The state that a pipeline reads or adds to, and who owns it; `undefined` for pipelines that consider only their own step. */
export function stateOf(spec: PipelineSpec): PipelineState | undefined {
  const { name, mechanism, scorer, actuator, policy, remembers } = spec;
  const scored = scorer && `${scorer.name} ${JSON.stringify(scorer.params)}`;
  if (mechanism === "mix") return { owner: name, by: scored ?? "rows", reads: true, keep: MIX_STEPS };
  if (policy !== undefined) {
    const reads = policy.role === "select";
    return { owner: reads ? policy.fed_by : name, by: actuator.name, reads, keep: COMPONENT_STEPS };
  }
  if (remembers) return { owner: name, by: `${actuator.name} ${scored ?? ""}`, reads: true, keep: COMPONENT_STEPS };
  return undefined;
}
