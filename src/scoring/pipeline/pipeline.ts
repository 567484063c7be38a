import type { CallOptions } from "./call-component.js";
import { mixStep } from "./mix-step.js";
import type { PipelineInput, PipelineOutcome } from "./outcome.js";
import { choosePrompts, feedPolicy } from "./prompts.js";
import { weighStep } from "./weigh-step.js";

/**
 * The outcome of a pipeline, of any kind, for one step. Pure: the same input gives the same outcome.
 * @throws DataflexError as `mixStep`, `choosePrompts`, `feedPolicy` and `weighStep`.
 */
export function runPipeline(input: PipelineInput, options: CallOptions = {}): Promise<PipelineOutcome> {
  const { mechanism, policy } = input.spec;
  if (mechanism === "mix") return mixStep(input, options);
  if (policy?.role === "select") return choosePrompts(input);
  if (policy?.role === "feed") return feedPolicy(input);
  return weighStep(input, options);
}
