import type { Check } from "./finding.js";

export interface ServerSettings {
  /** Fields of INFO. */
  readonly info: ReadonlyMap<string, string>;
  /** CONFIG GET *; undefined where it was not asked for or is hidden (hosted Redis, ACL). */
  readonly config: ReadonlyMap<string, string> | undefined;
}

/** The lowest version that BullMQ 6 and the scripts run on. */
const MIN = [6, 2] as const;
const GIB = 2 ** 30;
/** Shares of maxmemory, per cent. */
const NEARLY_FULL = 80;
const FULL = 95;
/** Each worker, broker and trainer holds a handful of connections. */
const FEW_CLIENTS = 1_000;

const set = (name: string, value: string): string => `redis-cli CONFIG SET ${name} ${value}`;

/** Every setting of a server that matters here, each with the command that fixes it. */
export function serverChecks(settings: ServerSettings): Check[] {
  return CHECKS.flatMap((check) => check(settings) ?? []);
}

/** Bytes; `max` 0: no limit; NaN where the server hides it. */
export function memoryOf({ info }: ServerSettings): { readonly used: number; readonly max: number } {
  const bytes = (name: string): number => Number(info.get(name) ?? Number.NaN);
  return { used: bytes("used_memory"), max: bytes("maxmemory") };
}

type Judge = (settings: ServerSettings) => Check | undefined;

const version: Judge = ({ info }) => {
  const text = info.get("redis_version") ?? "0";
  const [major = 0, minor = 0] = text.split(".").map(Number);
  const name = "version";
  if (major > MIN[0] || (major === MIN[0] && minor >= MIN[1])) return { name, level: "ok", text: `Redis ${text}` };
  return {
    name,
    level: "critical",
    text: `Redis ${text} is too old`,
    fix: `install ${MIN.join(".")} or newer (7.2 or Valkey 8 recommended)`,
  };
};

const role: Judge = ({ info }) => {
  if (info.get("role") !== "slave") return undefined;
  const master = `${info.get("master_host") ?? "?"}:${info.get("master_port") ?? "?"}`;
  return {
    name: "role",
    level: "critical",
    text: "this server is a replica: it takes no writes",
    fix: `--redis redis://${master}`,
  };
};

const cluster: Judge = ({ info }) => {
  if (info.get("cluster_enabled") !== "1") return undefined;
  return {
    name: "cluster",
    level: "critical",
    text: "the server is a node of a cluster, which is not supported",
    fix: "use a single server, or one behind Sentinel",
  };
};

const policy: Judge = ({ info, config }) => {
  const value = config?.get("maxmemory-policy") ?? info.get("maxmemory_policy");
  const name = "maxmemory-policy";
  if (value === undefined) return { name, level: "note", text: "hidden; taken for noeviction" };
  if (value === "noeviction") return { name, level: "ok", text: value };
  const text = `Redis may evict steps and job locks: maxmemory-policy is "${value}"`;
  return { name, level: "critical", text, fix: set(name, "noeviction") };
};

const limit: Judge = (settings) => {
  const { max } = memoryOf(settings);
  const name = "maxmemory";
  if (Number.isNaN(max)) return undefined;
  if (max > 0) return { name, level: "ok", text: `${(max / GIB).toFixed(2)} GiB` };
  const text = "no limit: a forgotten run can take the host's memory";
  return { name, level: "warning", text, fix: set(name, "2gb") };
};

const memory: Judge = (settings) => {
  const { used, max } = memoryOf(settings);
  if (!(max > 0)) return undefined;
  const name = "memory";
  const share = (100 * used) / max;
  if (share < NEARLY_FULL) return { name, level: "ok", text: `${Math.round(share)} % of maxmemory in use` };
  const level = share >= FULL ? "critical" : "warning";
  const text = `Redis is ${Math.round(share)} % full; when it is full, puts are refused`;
  return { name, level, text, fix: set("maxmemory", `${Math.ceil((2 * max) / GIB)}gb`) };
};

const appendonly: Judge = ({ info, config }) => {
  const on = config?.get("appendonly") === "yes" || info.get("aof_enabled") === "1";
  const name = "appendonly";
  if (on) return { name, level: "ok", text: "yes" };
  return {
    name,
    level: "warning",
    text: "no: a restart of Redis forgets open steps (trainers put them again) and all history",
    fix: set(name, "yes"),
  };
};

const appendfsync: Judge = ({ config }) => {
  if (config?.get("appendonly") !== "yes" || config.get("appendfsync") !== "always") return undefined;
  return {
    name: "appendfsync",
    level: "warning",
    text: '"always" makes every put wait for the disk',
    fix: set("appendfsync", "everysec"),
  };
};

const writes: Judge = ({ info, config }) => {
  if (info.get("aof_last_write_status") === "err") {
    return {
      name: "disk",
      level: "critical",
      text: "Redis cannot write its append-only file",
      fix: "free space on its disk; then: redis-cli CONFIG SET appendonly yes",
    };
  }
  if (info.get("rdb_last_bgsave_status") !== "err") return undefined;
  const stops = config?.get("stop-writes-on-bgsave-error") !== "no";
  return {
    name: "disk",
    level: stops ? "critical" : "warning",
    text: `the last snapshot failed${stops ? "; Redis refuses writes until one succeeds" : ""}`,
    fix: 'free space on its disk, or keep no snapshots: redis-cli CONFIG SET save ""',
  };
};

const timeout: Judge = ({ config }) => {
  const value = config?.get("timeout");
  if (value === undefined || value === "0") return undefined;
  return {
    name: "timeout",
    level: "warning",
    text: `connections idle for ${value} s are cut; waiting ones among them`,
    fix: set("timeout", "0"),
  };
};

const keepalive: Judge = ({ config }) => {
  if (config?.get("tcp-keepalive") !== "0") return undefined;
  return {
    name: "tcp-keepalive",
    level: "warning",
    text: "0: connections of hosts that died stay for ever",
    fix: set("tcp-keepalive", "60"),
  };
};

const clients: Judge = ({ config }) => {
  const most = Number(config?.get("maxclients") ?? Number.NaN);
  if (!(most < FEW_CLIENTS)) return undefined;
  return {
    name: "maxclients",
    level: "warning",
    text: `only ${most} connections; each service holds several`,
    fix: set("maxclients", "10000"),
  };
};

/** A bulk reply with one batch is some tens of MiB. */
const output: Judge = ({ config }) => {
  const limits = config?.get("client-output-buffer-limit");
  const hard = Number(/normal (\d+)/.exec(limits ?? "")?.[1] ?? Number.NaN);
  if (!(hard > 0 && hard < 64 * 2 ** 20)) return undefined;
  return {
    name: "client-output-buffer-limit",
    level: "warning",
    text: `clients with ${Math.round(hard / 2 ** 20)} MiB of unread answers are cut; a step's tensors can be more`,
    fix: set("client-output-buffer-limit", '"normal 256mb 64mb 60"'),
  };
};

const bulk: Judge = ({ config }) => {
  const most = Number(config?.get("proto-max-bulk-len") ?? Number.NaN);
  if (!(most < 2 ** 21)) return undefined;
  return {
    name: "proto-max-bulk-len",
    level: "critical",
    text: `${most} bytes: chunks of 1 MiB are refused`,
    fix: set("proto-max-bulk-len", "512mb"),
  };
};

const CHECKS: readonly Judge[] = [
  version,
  role,
  cluster,
  policy,
  limit,
  memory,
  appendonly,
  appendfsync,
  writes,
  timeout,
  keepalive,
  clients,
  output,
  bulk,
];
