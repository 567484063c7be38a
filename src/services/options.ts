import { BACKENDS, type Backend } from "../compute/messages.js";
import { DataflexError } from "../errors.js";

/** Options of the services, the same on the command line and for the entry points in `workers/`. */
export interface ServiceOptions {
  readonly redis?: string;
  readonly http?: string;
  readonly slots?: number;
  readonly backend?: Backend;
  readonly plugin?: readonly string[];
  readonly computeLimitMs?: number;
}

/** The address to use, from `--redis`, DFX_REDIS_URL or REDIS_URL. Errors: USAGE with the line to type. */
export function redisUrlOf(
  options: { readonly redis?: string },
  env: Readonly<Record<string, string | undefined>>,
  command: string,
): string {
  const url = options.redis ?? env.DFX_REDIS_URL ?? env.REDIS_URL;
  if (url) return url;
  throw new DataflexError(
    "USAGE",
    `no Redis address. Type: dataflex-mq ${command} --redis redis://127.0.0.1:6379   (or set DFX_REDIS_URL; a trial without one: dataflex-mq all)`,
  );
}

export function parseBackend(text: string): Backend {
  if ((BACKENDS as readonly string[]).includes(text)) return text as Backend;
  throw new DataflexError("USAGE", `backend "${text}" is none of ${BACKENDS.join(", ")}`);
}

export function parseCount(what: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new DataflexError("USAGE", `${what} is "${text}"; it must be a whole number above 0`);
}
