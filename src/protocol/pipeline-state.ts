import type { PipelineSpec } from "./pipeline-spec.js";

/** What a pipeline remembers of earlier steps, one entry a step. */
export interface PipelineState {
  /** The pipeline that adds to it, and under whose name Redis keeps it: a policy chooses by what its feeding pipeline left there. */
  readonly owner: string;
  /** What made the numbers: scorer and parameters, selector or policy. Those of another maker are not comparable. */
  readonly by: string;
  /** Whether the pipeline's results depend on it. A feeding pipeline only adds to it. */
  readonly reads: boolean;
  /** How many steps are kept where the component does not say; the oldest is forgotten first. */
  readonly keep: number;
}

/** More than a run has steps, and still read in some milliseconds: an entry is a few numbers a domain. */
const MIX_STEPS = 20_000;
/** An entry may hold a number for each prompt of a step. */
const COMPONENT_STEPS = 1_000;

/** Whether a pipeline remembers anything, and who owns the memory; `undefined` for pipelines that look at their step alone. */
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
