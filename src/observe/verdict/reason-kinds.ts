import { FLAPPING } from "./flapping.js";
import { NO_WORKER, SILENT } from "./live-rules.js";
import { STEP_RULES, WEIGHT_RULES } from "./verdict-rules.js";
import type { ReasonKind } from "./verdict-types.js";

/** Every reason that a verdict can have: metrics, alerts and documents are made from it. */
export const REASON_KINDS: readonly ReasonKind[] = [NO_WORKER, ...STEP_RULES, ...WEIGHT_RULES, SILENT, FLAPPING];
