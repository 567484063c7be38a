import type { Stage } from "dataflex-mq";
import { DOMAINS } from "./content.js";

export type Language = "ts" | "py";

/** A run of the harness: what it mounts and which fields it sends at which stage. */
export interface RunSpec {
  readonly name: string;
  readonly dataflex: object;
  readonly stages: readonly StageSpec[];
  readonly owner: Language;
  readonly ranks: readonly Language[];
  /** Steps in flight together; mixers remember steps in the order in which they settle, so theirs go one by one. */
  readonly inFlight: number;
}

/** `whole`: fields that the owner puts for all rows; `parts`: those that every producer puts for its own rows. */
interface StageSpec {
  readonly stage: Stage;
  readonly whole: readonly string[];
  readonly parts: readonly string[];
}

/** How long a step's weights may take: much longer than any fault of the harness lasts. */
export const MAX_WAIT_MS = 60_000;
/** Steps that `reward_gap` looks back. */
export const WINDOW = 8;

const WEIGH = { mechanism: "reweight", scorer: { name: "dawdling" }, actuator: { name: "softmax" } };
const KEEP = {
  mechanism: "select",
  scorer: { name: "group_solve_rate", params: { success_threshold: 0.5 } },
  actuator: { name: "threshold_band", params: { low: 0.2, high: 0.8 } },
};
const TOKENS = {
  mechanism: "reweight",
  scorer: { name: "token_prob" },
  actuator: { name: "advantage_reweight", params: { alpha: 0.5 } },
};
const MIX = {
  mechanism: "mix",
  scorer: { name: "reward_difficulty" },
  actuator: { name: "reward_gap", params: { temperature: 1, floor: 0.05 } },
  domains: DOMAINS,
  window: WINDOW,
};
const FIXED = { mechanism: "mix", actuator: { name: "static", params: { proportions: [3, 1] } }, domains: DOMAINS };

const block = (pipelines: object): object => ({ pipelines, max_wait_ms: MAX_WAIT_MS });

export const RUNS: readonly RunSpec[] = [
  {
    name: "rows",
    dataflex: block({ keep: KEEP, weigh: WEIGH }),
    stages: [
      { stage: "post_reward", whole: ["response_mask", "uid"], parts: ["rm_scores"] },
      { stage: "post_advantage", whole: [], parts: ["response_mask", "advantages"] },
    ],
    owner: "ts",
    ranks: ["py", "ts"],
    inFlight: 2,
  },
  {
    name: "tokens",
    dataflex: block({ tokens: TOKENS }),
    stages: [{ stage: "post_advantage", whole: [], parts: ["response_mask", "old_log_probs"] }],
    owner: "py",
    ranks: ["ts"],
    inFlight: 2,
  },
  {
    name: "domains",
    dataflex: block({ mix: MIX, fixed: FIXED }),
    stages: [{ stage: "post_reward", whole: ["response_mask", "domain"], parts: ["rm_scores"] }],
    owner: "ts",
    ranks: ["py"],
    inFlight: 1,
  },
];
