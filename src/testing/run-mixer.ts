import { DataflexError } from "../errors.js";
import type { PipelineSpec } from "../protocol/pipeline-spec.js";
import type { Mixer } from "../scoring/components/component-types.js";
import { createRegistry } from "../scoring/components/registry.js";
import type { DomainSeries } from "../scoring/mix/series.js";
import { Notes } from "../scoring/pipeline/notes.js";
import { proposeShares } from "../scoring/pipeline/propose.js";
import type { Params } from "./run-component.js";

/**
 * The shares a mixer gives for a history (`mixHistory`), as the system would deliver them: domains never seen keep their prior share,
 * the floor is applied.
 * @param step the step of the update; default: the history's last, or 0.
 * @throws DataflexError as the pipeline would.
 */
export function runMixer(mixer: Mixer, series: DomainSeries, params: Params = {}, step?: number): number[] {
  const known = createRegistry([mixer]).get("mixer", mixer.name);
  const run = { run: "test", step: step ?? series.steps.at(-1)?.step ?? 0, trigger: 0 };
  const shares = proposeShares(mixSpec(known, series, params), known, series, run, new Notes());
  if (!(shares instanceof Promise)) return shares;
  throw new DataflexError("COMPONENT", `mixer '${mixer.name}' is asynchronous: runMixer runs synchronous ones only`);
}

function mixSpec(mixer: Mixer, series: DomainSeries, params: Params): PipelineSpec {
  return {
    name: "test",
    mechanism: "mix",
    stage: "post_reward",
    actuator: { name: mixer.name, params },
    fields: [],
    fingerprint: "test",
    granularity: "domain",
    normalize: "none",
    on_nonfinite: "error",
    on_empty: "drop_all",
    on_incomplete_group: "error",
    warmup_step: 0,
    update_step: 1,
    window: series.window,
    domains: series.domains,
    prior: series.prior,
    shadow: false,
  };
}
