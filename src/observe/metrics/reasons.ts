import type { ErrorCode } from "../../errors.js";

/** Why jobs fail, in the few kinds that call for different action. */
export const FAILURE_REASONS = [
  "decode",
  "contract",
  "score",
  "act",
  "nonfinite",
  "timeout",
  "expired",
  "lost",
  "poison",
  "redis",
  "other",
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

const REASON = {
  USAGE: "other",
  CONFIG: "contract",
  INVALID_INPUT: "contract",
  LIMIT: "decode",
  DECODE: "decode",
  PROTOCOL_VERSION: "contract",
  NO_BROKER: "other",
  NO_WORKER: "other",
  RUN_BUSY: "other",
  NOT_MOUNTED: "other",
  FENCED: "other",
  PUT_CONFLICT: "contract",
  ROWS_CONFLICT: "contract",
  CHUNKS_MISSING: "redis",
  RELEASED: "other",
  NON_FINITE: "nonfinite",
  INCOMPLETE_GROUP: "contract",
  EMPTY_SELECTION: "act",
  COMPONENT: "score",
  PLUGIN: "contract",
  COMPONENT_UNKNOWN: "contract",
  COMPUTE_TIMEOUT: "timeout",
  COMPUTE_LOST: "lost",
  OUT_OF_MEMORY: "lost",
  POISON: "poison",
  EXPIRED: "expired",
  INTERNAL: "other",
  TIMEOUT: "timeout",
  CLOSED: "other",
  REDIS_UNREACHABLE: "redis",
  REDIS_CONFIG: "redis",
  REDIS_FULL: "redis",
  REDIS_REFUSED: "redis",
  REDIS_DENIED: "redis",
  BACKEND: "other",
} as const satisfies Record<ErrorCode, FailureReason>;

/** The kind of failure of an error code; a code of another version is `other`. */
export function failureReason(code: string | undefined): FailureReason {
  return code !== undefined && Object.hasOwn(REASON, code) ? REASON[code as ErrorCode] : "other";
}
