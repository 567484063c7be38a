/** One thing that was looked at. `fix`: the line to type, or what to do. */
export interface Finding {
  readonly name: string;
  /** `wrong` breaks runs or loses steps; `note` is worth knowing. */
  readonly level: "ok" | "note" | "warning" | "wrong";
  readonly text: string;
  readonly fix?: string;
}

export interface ServerSettings {
  /** Fields of INFO. */
  readonly info: ReadonlyMap<string, string>;
  /** CONFIG GET *; undefined where the server hides it (hosted Redis, ACL). */
  readonly config: ReadonlyMap<string, string> | undefined;
}

/** The lowest version that BullMQ 6 and the scripts run on. */
const MIN = [6, 2] as const;
const GIB = 2 ** 30;
const NEARLY_FULL = 0.8;
/** Each worker, broker and trainer holds a handful of connections. */
const FEW_CLIENTS = 1_000;

export function parseInfo(text: string): ReadonlyMap<string, string> {
  const lines = text.split(/\r?\n/).filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]));
}

const ALSO_IN_FILE = "   (and in redis.conf)";
const set = (name: string, value: string): string => `redis-cli CONFIG SET ${name} ${value}${ALSO_IN_FILE}`;

/** Every setting of a server that matters here, each with the line that fixes it. */
export function serverFindings(settings: ServerSettings): Finding[] {
  const found = CHECKS.flatMap((check) => check(settings) ?? []);
  if (settings.config) return found;
  const text = "the server hides CONFIG: settings that INFO does not tell were not looked at";
  return [
    ...found,
    { name: "settings", level: "note", text, fix: "ask the host for maxmemory-policy noeviction and timeout 0" },
  ];
}

type Check = (settings: ServerSettings) => Finding | undefined;

const version: Check = ({ info }) => {
  const text = info.get("redis_version") ?? "0";
  const [major = 0, minor = 0] = text.split(".").map(Number);
  const name = "version";
  if (major > MIN[0] || (major === MIN[0] && minor >= MIN[1])) return { name, level: "ok", text: `Redis ${text}` };
  return {
    name,
    level: "wrong",
    text: `Redis ${text} is too old`,
    fix: `install ${MIN.join(".")} or newer (7.2 or Valkey 8 recommended)`,
  };
};

const role: Check = ({ info }) => {
  if (info.get("role") !== "slave") return undefined;
  const master = `${info.get("master_host") ?? "?"}:${info.get("master_port") ?? "?"}`;
  return {
    name: "role",
    level: "wrong",
    text: "this server is a replica: it takes no writes",
    fix: `--redis redis://${master}`,
  };
};

const cluster: Check = ({ info }) => {
  if (info.get("cluster_enabled") !== "1") return undefined;
  return {
    name: "cluster",
    level: "wrong",
    text: "the server is a node of a cluster, which is not supported",
    fix: "use a single server, or one behind Sentinel",
  };
};

const policy: Check = ({ info, config }) => {
  const value = config?.get("maxmemory-policy") ?? info.get("maxmemory_policy");
  const name = "maxmemory-policy";
  if (value === undefined) return { name, level: "note", text: "hidden; taken for noeviction" };
  if (value === "noeviction") return { name, level: "ok", text: value };
  return { name, level: "wrong", text: `"${value}" may evict steps and job locks`, fix: set(name, "noeviction") };
};

/** The line that gives a nearly full server twice the memory it may use now. */
export const moreMemory = (max: number): string => `redis-cli CONFIG SET maxmemory ${Math.ceil((2 * max) / GIB)}gb`;

const memory: Check = ({ info }) => {
  const max = Number(info.get("maxmemory") ?? Number.NaN);
  const used = Number(info.get("used_memory") ?? Number.NaN);
  const name = "maxmemory";
  if (!Number.isFinite(max)) return undefined;
  const inGib = (n: number): string => `${(n / GIB).toFixed(2)} GiB`;
  if (max === 0) {
    return {
      name,
      level: "warning",
      text: "no limit: a forgotten run can take the host's memory",
      fix: set(name, "2gb"),
    };
  }
  const text = `${inGib(used)} of ${inGib(max)} in use`;
  if (used / max < NEARLY_FULL) return { name, level: "ok", text };
  return {
    name,
    level: used / max >= 0.95 ? "wrong" : "warning",
    text: `${text}: when it is full, puts are refused`,
    fix: `${moreMemory(max)}${ALSO_IN_FILE}`,
  };
};

const appendonly: Check = ({ info, config }) => {
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

const appendfsync: Check = ({ config }) => {
  if (config?.get("appendonly") !== "yes" || config.get("appendfsync") !== "always") return undefined;
  return {
    name: "appendfsync",
    level: "warning",
    text: '"always" makes every put wait for the disk',
    fix: set("appendfsync", "everysec"),
  };
};

const writes: Check = ({ info, config }) => {
  if (info.get("aof_last_write_status") === "err") {
    return {
      name: "disk",
      level: "wrong",
      text: "Redis cannot write its append-only file",
      fix: "free space on its disk; then: redis-cli CONFIG SET appendonly yes",
    };
  }
  if (info.get("rdb_last_bgsave_status") !== "err") return undefined;
  const stops = config?.get("stop-writes-on-bgsave-error") !== "no";
  return {
    name: "disk",
    level: stops ? "wrong" : "warning",
    text: `the last snapshot failed${stops ? "; Redis refuses writes until one succeeds" : ""}`,
    fix: 'free space on its disk, or keep no snapshots: redis-cli CONFIG SET save ""',
  };
};

const timeout: Check = ({ config }) => {
  const value = config?.get("timeout");
  if (value === undefined || value === "0") return undefined;
  return {
    name: "timeout",
    level: "warning",
    text: `connections idle for ${value} s are cut; waiting ones among them`,
    fix: set("timeout", "0"),
  };
};

const keepalive: Check = ({ config }) => {
  if (config?.get("tcp-keepalive") !== "0") return undefined;
  return {
    name: "tcp-keepalive",
    level: "warning",
    text: "0: connections of hosts that died stay for ever",
    fix: set("tcp-keepalive", "60"),
  };
};

const clients: Check = ({ config }) => {
  const most = Number(config?.get("maxclients") ?? Number.NaN);
  if (!(most < FEW_CLIENTS)) return undefined;
  return {
    name: "maxclients",
    level: "warning",
    text: `only ${most} connections; each service holds several`,
    fix: set("maxclients", "10000"),
  };
};

/** A bulk reply of one batch is some tens of MiB. */
const output: Check = ({ config }) => {
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

const bulk: Check = ({ config }) => {
  const most = Number(config?.get("proto-max-bulk-len") ?? Number.NaN);
  if (!(most < 2 ** 21)) return undefined;
  return {
    name: "proto-max-bulk-len",
    level: "wrong",
    text: `${most} bytes: chunks of 1 MiB are refused`,
    fix: set("proto-max-bulk-len", "512mb"),
  };
};

const CHECKS: readonly Check[] = [
  version,
  role,
  cluster,
  policy,
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
