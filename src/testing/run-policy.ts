import type { PipelineSpec } from "../protocol/pipeline-spec.js";
import { packEntry, type StateValue } from "../protocol/saved-state.js";
import type { Policy } from "../scoring/components/component-types.js";
import { createRegistry } from "../scoring/components/registry.js";
import type { RunContext } from "../scoring/pipeline/outcome.js";
import { choosePrompts, feedPolicy, type PromptOutcome } from "../scoring/pipeline/prompts.js";
import { type FakeField, fakeBatch } from "./fake-batch.js";
import type { Params } from "./run-component.js";

type Fields = Readonly<Record<string, FakeField>>;

export interface PolicyRunOptions {
  readonly settings?: Partial<PipelineSpec>;
  readonly run?: string;
  /** The step to choose for; default: the one after the last step that fed the policy. */
  readonly step?: number;
}

/**
 * Feeds a policy with the responses of some steps (1, 2 …), then lets it choose among candidates, as the system would.
 * @param fed per step the fields of its responses, `dataset_key` among them.
 * @throws DataflexError as the pipeline would.
 */
export async function runPolicy(
  policy: Policy,
  fed: readonly Fields[],
  candidates: Fields,
  params: Params = {},
  options: PolicyRunOptions = {},
): Promise<PromptOutcome> {
  const registry = createRegistry([policy]);
  const spec = { ...policySpec(policy, params), ...options.settings };
  const context = (step: number): RunContext => ({ run: options.run ?? "test", step, trigger: 0 });
  const remembered: (readonly StateValue[])[] = [];
  for (const [i, fields] of fed.entries()) {
    const { remember } = await feedPolicy({ spec, registry, batch: fakeBatch(fields), run: context(i + 1) });
    remembered.push(remember?.values ?? []);
  }
  const state = {
    keys: remembered.map((_, i) => `${i + 1}.0`),
    entries: remembered.map((values) => packEntry({ inc: 1, by: policy.name, values })),
  };
  const run = context(options.step ?? fed.length + 1);
  return choosePrompts({ spec, registry, batch: fakeBatch(candidates), run, state });
}

function policySpec(policy: Policy, params: Params): PipelineSpec {
  return {
    name: "test",
    mechanism: "select",
    stage: "pre_rollout",
    actuator: { name: policy.name, params },
    fields: policy.needs,
    fingerprint: "test",
    granularity: "row",
    normalize: "none",
    on_nonfinite: "error",
    on_empty: "drop_all",
    on_incomplete_group: "error",
    warmup_step: 0,
    update_step: 1,
    window: 50,
    policy: { role: "select", fed_by: "_feed-test" },
    shadow: false,
  };
}
