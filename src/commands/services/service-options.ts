import { parseArgs } from "node:util";
import { DataflexError } from "../../errors.js";
import { DEFAULT_PORT, LOCAL } from "../../observe/http/listen.js";
import { checkBackend } from "../../worker/compute/backend.js";
import { BACKENDS, type Backend } from "../../worker/compute/thread-messages.js";
import { type DeviceAsked, parseDevice } from "../../worker/python/devices.js";
import { WORKER_DEFAULTS } from "../../worker/worker-options.js";

/** Options that several commands, and the entry points in `workers/`, have in common. */
export interface ServiceOptions {
  readonly redis?: string;
  readonly http?: string;
  /** The token that opens the live page. */
  readonly token?: string;
  readonly slots?: number;
  readonly backend?: Backend;
  readonly plugin?: readonly string[];
  readonly computeLimitMs?: number;
  /** The interpreter of Python plugins. */
  readonly python?: string;
  readonly device?: DeviceAsked;
  readonly pythonMemoryMb?: number;
  readonly pythonStartMs?: number;
  /** Plugins are loaded again when their files are saved. */
  readonly watch?: boolean;
  readonly workers?: number;
}

type Item<T> = T extends readonly (infer E)[] ? E : NonNullable<T>;
interface Option<T> {
  /** What stands after the flag in the help; with `...` it may be given several times. Absent: the flag stands alone. */
  readonly value?: string;
  readonly parse: (text: string, flag: string) => T;
  /** The commands that have it, with their line of help. */
  readonly help: Readonly<Record<string, string>>;
}

/** What one machine can start; more is a typing mistake that would bring it down. */
const MAX_COUNT = 256;
/** 64 TiB. */
const MAX_MEMORY_MB = 2 ** 26;
/** A day: timers hold no more than 24 of them. */
export const MAX_MS = 86_400_000;
export const DEFAULT_WORKERS = 2;

const asGiven = (text: string): string => text;
const count =
  (most: number) =>
  (text: string, flag: string): number => {
    const value = Number(text);
    if (Number.isInteger(value) && value > 0 && value <= most) return value;
    throw new DataflexError("USAGE", `${flag} is "${text}"; it must be a whole number from 1 to ${most}`);
  };

const ADDRESS = "Redis address (default: DFX_REDIS_URL, then REDIS_URL)";
const INTERPRETER = "interpreter of Python plugins (default: DFX_PYTHON, then python3)";
const DEVICE = "where Python plugins compute: auto, cpu, cuda, cuda:N (default auto)";
const ADDRESS_OR_PRIVATE = "Redis address (default: DFX_REDIS_URL, then REDIS_URL, then a private one)";

/** The one table of these options: command lines, help, entry points and started processes are made from it. */
const OPTIONS: { readonly [Name in keyof ServiceOptions]-?: Option<Item<ServiceOptions[Name]>> } = {
  redis: {
    value: "<url>",
    parse: asGiven,
    help: {
      broker: ADDRESS,
      worker: ADDRESS,
      status: ADDRESS,
      dead: ADDRESS,
      doctor: ADDRESS,
      all: ADDRESS_OR_PRIVATE,
      demo: ADDRESS_OR_PRIVATE,
      replay: ADDRESS_OR_PRIVATE,
    },
  },
  http: {
    value: "<host:port>",
    parse: asGiven,
    help: {
      broker: `where to serve the live page, /metrics, /healthz, /readyz (default ${LOCAL}:${DEFAULT_PORT.broker})`,
      worker: `where to serve /metrics, /healthz, /readyz (default ${LOCAL}:${DEFAULT_PORT.worker})`,
    },
  },
  token: {
    value: "<text>",
    parse: asGiven,
    help: { broker: "token that opens the page; required on an address that other machines can reach (or DFX_TOKEN)" },
  },
  slots: {
    value: "<n>",
    parse: count(MAX_COUNT),
    help: { worker: `jobs at once, each with a compute thread of its own (default ${WORKER_DEFAULTS.slots})` },
  },
  backend: {
    value: "<name>",
    parse: checkBackend,
    help: {
      worker: `where tensors live: ${BACKENDS.join(", ")} (default ${WORKER_DEFAULTS.backend})`,
      doctor: "a backend that must work on this machine",
    },
  },
  plugin: {
    value: "<file|package...>",
    parse: asGiven,
    help: {
      worker: "load components of your own: TypeScript, JavaScript, or Python (.py)",
      all: "components of your own, for every worker",
      check: "components of your own, as the workers will have them",
      components: "components of your own, beside the built-in ones",
      demo: "components of your own, for its workers",
      replay: "components of your own, for its worker",
    },
  },
  computeLimitMs: {
    value: "<ms>",
    parse: count(MAX_MS),
    help: { worker: `longest time one job may compute (default ${WORKER_DEFAULTS.computeLimitMs})` },
  },
  python: {
    value: "<path>",
    parse: asGiven,
    help: {
      worker: INTERPRETER,
      doctor: INTERPRETER,
      all: INTERPRETER,
      check: INTERPRETER,
      components: INTERPRETER,
      demo: INTERPRETER,
      replay: INTERPRETER,
    },
  },
  device: {
    value: "<name>",
    parse: parseDevice,
    help: { worker: DEVICE, doctor: DEVICE, all: DEVICE, demo: DEVICE, replay: DEVICE },
  },
  pythonMemoryMb: {
    value: "<n>",
    parse: count(MAX_MEMORY_MB),
    help: { worker: "memory that each slot's Python process may allocate" },
  },
  pythonStartMs: {
    value: "<ms>",
    parse: count(MAX_MS),
    help: { worker: "how long it may take to import the plugins (default 120000)" },
  },
  watch: {
    parse: () => true,
    help: {
      worker: "load the files of --plugin again whenever they are saved",
      all: "load the files of --plugin again whenever they are saved",
    },
  },
  workers: {
    value: "<n>",
    parse: count(MAX_COUNT),
    help: { all: `worker processes (default ${DEFAULT_WORKERS})` },
  },
};

type Name = keyof ServiceOptions;
const entries = Object.entries(OPTIONS) as [Name, Option<unknown>][];
/** `computeLimitMs` → `compute-limit-ms` */
const kebab = (name: Name): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const isMany = ({ value }: Option<unknown>): boolean => value?.includes("...") === true;

/** Flags and help of the options that a command has, as commander takes them. */
export function optionsOf(command: string): (readonly [flags: string, help: string])[] {
  return entries.flatMap(([name, { value, help }]) => {
    const line = help[command];
    return line === undefined
      ? []
      : [[value === undefined ? `--${kebab(name)}` : `--${kebab(name)} ${value}`, line] as const];
  });
}

/** A command's options by name, as commander hands them over, checked. Errors: USAGE naming the flag. Its other keys are ignored. */
export function parseOptions(command: string, texts: Readonly<Partial<Record<string, unknown>>>): ServiceOptions {
  const parsed = entries.flatMap(([name, option]) => {
    const given = option.help[command] === undefined ? undefined : texts[name];
    if (given === undefined) return [];
    const one = (text: unknown): unknown => option.parse(String(text), `--${kebab(name)}`);
    return [[name, Array.isArray(given) ? given.map(one) : one(given)] as const];
  });
  return Object.fromEntries(parsed) as ServiceOptions;
}

/** The command line of an entry point. */
export function parseArgv(role: string, argv: readonly string[]): ServiceOptions {
  const own = entries.filter(([, option]) => option.help[role] !== undefined);
  const options = own.map(([name, option]) => {
    const type = option.value === undefined ? ("boolean" as const) : ("string" as const);
    return [kebab(name), { type, multiple: isMany(option) }] as const;
  });
  const { values } = parseArgs({ args: [...argv], options: Object.fromEntries(options) });
  return parseOptions(role, Object.fromEntries(own.map(([name]) => [name, values[kebab(name)]])));
}

/** The other way round: the command line that gives an entry point these options. */
export function argvOf(options: { readonly [K in Name]?: unknown }): string[] {
  return entries.flatMap(([name]) => {
    const value = options[name];
    const given = value === undefined ? [] : Array.isArray(value) ? value : [value];
    return given.flatMap((item: unknown) => [`--${kebab(name)}`, ...(item === true ? [] : [String(item)])]);
  });
}
