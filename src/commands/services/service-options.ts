import { readFileSync } from "node:fs";
import { DataflexError } from "../../errors.js";
import { BACKENDS, type Backend } from "../../worker/compute/thread-messages.js";
import { parseDevice } from "../../worker/python/devices.js";
import type { PythonSettings } from "../../worker/python/python-slots.js";

/** Options of the services, the same on the command line and for the entry points in `workers/`. */
export interface ServiceOptions {
  readonly redis?: string;
  readonly http?: string;
  readonly slots?: number;
  readonly backend?: Backend;
  readonly plugin?: readonly string[];
  readonly computeLimitMs?: number;
  readonly python?: PythonSettings;
  /** Broker only: what whoever wants to see its page must know. */
  readonly token?: string;
}

/** The page's token: as given, from DFX_TOKEN, or from the file that DFX_TOKEN_FILE names. Errors: USAGE for one that cannot be. */
export function tokenOf(
  options: { readonly token?: string },
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const token = options.token ?? env.DFX_TOKEN ?? secretOf(env, "DFX_TOKEN_FILE");
  if (token === undefined || /^[\x21-\x7e]{8,}$/.test(token)) return token;
  throw new DataflexError("USAGE", "the page's token must be 8 or more printable ASCII characters without spaces");
}

/** What stands in the file that a variable names; undefined when the variable is not set. */
function secretOf(env: Readonly<Record<string, string | undefined>>, variable: string): string | undefined {
  const file = env[variable];
  if (!file) return undefined;
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new DataflexError("USAGE", `${variable} names ${file}, which cannot be read (${reason})`, { file });
  }
}

/** `--redis`, DFX_REDIS_URL, the file that DFX_REDIS_URL_FILE names (a secret's mount), REDIS_URL: the first that is set. */
export function redisAddress(
  options: { readonly redis?: string | undefined },
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  return options.redis ?? env.DFX_REDIS_URL ?? secretOf(env, "DFX_REDIS_URL_FILE") ?? env.REDIS_URL;
}

/** The address to use, as `redisAddress`. Errors: USAGE with the line to type. */
export function redisUrlOf(
  options: { readonly redis?: string },
  env: Readonly<Record<string, string | undefined>>,
  command: string,
): string {
  const url = redisAddress(options, env);
  if (url) return url;
  throw new DataflexError(
    "USAGE",
    `no Redis address. Type: dataflex-mq ${command} --redis redis://127.0.0.1:6379   (or set DFX_REDIS_URL; a trial without one: dataflex-mq all)`,
  );
}

/** How Python plugins are run, as typed. Errors: USAGE. */
export function pythonSettings(typed: {
  readonly python?: string | undefined;
  readonly device?: string | undefined;
  readonly pythonMemoryMb?: string | undefined;
  readonly pythonStartMs?: string | undefined;
}): { python?: PythonSettings } {
  const { python, device, pythonMemoryMb: memory, pythonStartMs: start } = typed;
  const settings: PythonSettings = {
    ...(python === undefined ? {} : { python }),
    ...(device === undefined ? {} : { device: parseDevice(device) }),
    ...(memory === undefined ? {} : { memoryMb: parseCount("--python-memory-mb", memory, MAX_MEMORY_MB) }),
    ...(start === undefined ? {} : { startLimitMs: parseCount("--python-start-ms", start, MAX_MS) }),
  };
  return Object.keys(settings).length === 0 ? {} : { python: settings };
}

export function parseBackend(text: string): Backend {
  if ((BACKENDS as readonly string[]).includes(text)) return text as Backend;
  throw new DataflexError("USAGE", `backend "${text}" is none of ${BACKENDS.join(", ")}`);
}

/** What one machine can start; more is a slip of the keyboard that would take it down. */
const MAX_COUNT = 256;
/** 64 TiB. */
const MAX_MEMORY_MB = 2 ** 26;
/** A day: timers hold no more than 24 of them. */
export const MAX_MS = 86_400_000;

export function parseCount(what: string, text: string, most = MAX_COUNT): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0 && value <= most) return value;
  throw new DataflexError("USAGE", `${what} is "${text}"; it must be a whole number from 1 to ${most}`);
}
