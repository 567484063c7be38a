/**
 * Every typed error of the system. One table: the code, where it arises, whether trying again can help, and the exit code of a
 * command that ends with it. `docs/errors.md` lists the same codes; a test compares them.
 */
export const ERROR_CODES = {
  // wrong input from the caller
  USAGE: { where: "command", retryable: false, exit: 2 },
  CONFIG: { where: "mount", retryable: false, exit: 2 },
  INVALID_INPUT: { where: "client", retryable: false, exit: 2 },
  LIMIT: { where: "protocol", retryable: false, exit: 1 },
  // the wire
  DECODE: { where: "protocol", retryable: false, exit: 1 },
  PROTOCOL_VERSION: { where: "mount", retryable: false, exit: 2 },
  // mount
  NO_BROKER: { where: "mount", retryable: true, exit: 1 },
  NO_WORKER: { where: "mount", retryable: true, exit: 1 },
  RUN_BUSY: { where: "mount", retryable: false, exit: 1 },
  NOT_MOUNTED: { where: "mount", retryable: false, exit: 1 },
  FENCED: { where: "put", retryable: false, exit: 1 },
  // put
  PUT_CONFLICT: { where: "put", retryable: false, exit: 1 },
  ROWS_CONFLICT: { where: "put", retryable: false, exit: 1 },
  CHUNKS_MISSING: { where: "put", retryable: true, exit: 1 },
  RELEASED: { where: "put", retryable: false, exit: 1 },
  // score and act
  NON_FINITE: { where: "score", retryable: false, exit: 1 },
  INCOMPLETE_GROUP: { where: "score", retryable: false, exit: 1 },
  EMPTY_SELECTION: { where: "act", retryable: false, exit: 1 },
  COMPONENT: { where: "score", retryable: false, exit: 1 },
  PLUGIN: { where: "worker", retryable: false, exit: 2 },
  COMPONENT_UNKNOWN: { where: "worker", retryable: false, exit: 1 },
  COMPUTE_TIMEOUT: { where: "worker", retryable: false, exit: 1 },
  COMPUTE_LOST: { where: "worker", retryable: true, exit: 1 },
  OUT_OF_MEMORY: { where: "worker", retryable: true, exit: 1 },
  POISON: { where: "worker", retryable: false, exit: 1 },
  EXPIRED: { where: "worker", retryable: false, exit: 1 },
  INTERNAL: { where: "worker", retryable: true, exit: 1 },
  // waiting
  TIMEOUT: { where: "weights", retryable: true, exit: 1 },
  CLOSED: { where: "client", retryable: false, exit: 1 },
  // Redis
  REDIS_UNREACHABLE: { where: "redis", retryable: true, exit: 3 },
  REDIS_CONFIG: { where: "redis", retryable: false, exit: 2 },
  REDIS_FULL: { where: "redis", retryable: true, exit: 1 },
  REDIS_REFUSED: { where: "redis", retryable: true, exit: 3 },
  REDIS_DENIED: { where: "redis", retryable: false, exit: 2 },
  BACKEND: { where: "worker", retryable: false, exit: 2 },
} as const satisfies Record<string, { where: string; retryable: boolean; exit: 1 | 2 | 3 }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** What `on_unavailable: neutral` covers: the service was not there. A wrong input or a broken scorer is never covered. */
export const UNAVAILABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "TIMEOUT",
  "EXPIRED",
  "POISON",
  "COMPUTE_LOST",
  "REDIS_UNREACHABLE",
  "REDIS_FULL",
  "REDIS_REFUSED",
  "REDIS_DENIED",
]);

/** A failure as it crosses a process: plain data, rebuilt on the other side by `DataflexError.fromFailure`. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export class DataflexError extends Error {
  readonly code: ErrorCode;
  /** The offending values (field, row, column, limit …), for programs. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "DataflexError";
    this.code = code;
    this.details = details;
  }

  get retryable(): boolean {
    return ERROR_CODES[this.code].retryable;
  }

  get exitCode(): number {
    return ERROR_CODES[this.code].exit;
  }

  toFailure(): Failure {
    return { code: this.code, message: this.message, details: this.details };
  }

  /** A failure rebuilt; a code of a later version becomes INTERNAL, itself in the details. */
  static fromFailure({ code, message, details }: Failure, cause?: unknown): DataflexError {
    const options = cause === undefined ? undefined : { cause };
    if (Object.hasOwn(ERROR_CODES, code)) return new DataflexError(code, message, { ...details }, options);
    return new DataflexError("INTERNAL", message, { ...details, code }, options);
  }

  /** Any thrown thing as a DataflexError; what is not one becomes `fallback` with the original as its cause. */
  static from(thrown: unknown, fallback: ErrorCode = "INTERNAL"): DataflexError {
    if (thrown instanceof DataflexError) return thrown;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new DataflexError(fallback, message, {}, { cause: thrown });
  }
}
