/** How one execution of a job ends. Metrics count all of them; a finished job's receipt has one of them, but never `retried`. */
export const JOB_OUTCOMES = {
  completed: "its result was settled",
  failed: "a typed failure was settled",
  retried: "an error that a retry may not meet; the job goes back to its queue",
  superseded: "nothing was settled: the pipeline already had its outcome, or its run has a new incarnation",
} as const;
export type JobOutcome = keyof typeof JOB_OUTCOMES;

/** How a pipeline's step ended, as metrics count it. */
export const STEP_OUTCOMES = {
  applied: "a result was settled",
  fallback:
    "a failure of the service was settled, and the run trains on with neutral weights (`on_unavailable: neutral`)",
  failed: "any other failure was settled",
  expired: "the failure settled was EXPIRED or TIMEOUT",
} as const;
export type StepOutcome = keyof typeof STEP_OUTCOMES;
