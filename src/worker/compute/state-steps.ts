import { type MixInput, runMix } from "../../scoring/pipeline/mix-step.js";
import { choosePrompts, feedPolicy, type PromptInput } from "../../scoring/pipeline/prompts.js";
import type { Made } from "./score-step.js";

/** A mix pipeline's step: proportions in the header, no columns. */
export async function mixStep(input: MixInput): Promise<Made> {
  const { remember, ...facts } = await runMix(input);
  return { columns: {}, facts: { granularity: "domain", ...facts }, ...(remember && { remember }) };
}

/** A policy's step: the chosen prompts, or, of its feeding pipeline, only what is remembered. */
export async function promptStep(input: PromptInput, role: "select" | "feed"): Promise<Made> {
  if (role === "feed") {
    const { remember, ...facts } = await feedPolicy(input);
    return { columns: {}, facts: { granularity: "row", ...facts }, ...(remember && { remember }) };
  }
  const { kept, weights, ...facts } = await choosePrompts(input);
  return {
    columns: { kept, ...(weights && { weights: { kind: "row", values: weights } }) },
    facts: { granularity: "row", ...facts },
  };
}
