import type { PipelineSpec } from "../../src/protocol/pipeline-spec.js";
import { specOf } from "./executions.js";

/** Two reweighters, a selector as their shadow and a mixer, their scorers another for each run. */
export function manyPipelines(scorers: readonly string[], run: number): PipelineSpec[] {
  const scorer = (i: number) => ({ name: scorers[(4 * run + i) % scorers.length]!, params: {} });
  const actuator = (name: string) => ({ name, params: {} });
  return [
    specOf({ name: "sharp", scorer: scorer(0) }),
    specOf({ name: "soft", scorer: scorer(1), stage: "post_reward" }),
    specOf({
      name: "trial",
      scorer: scorer(2),
      mechanism: "select",
      actuator: actuator("topk_fraction"),
      shadow: true,
    }),
    specOf({
      name: "mix",
      scorer: scorer(3),
      mechanism: "mix",
      actuator: actuator("reward_gap"),
      stage: "post_reward",
    }),
  ];
}
