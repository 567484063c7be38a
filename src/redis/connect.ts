import { Redis, type RedisOptions } from "ioredis";
import { DataflexError } from "../errors.js";
import { within } from "../lifecycle.js";
import { redactUrl } from "../redact.js";
import { isElsewhere } from "./refusals.js";
import { defineScripts } from "./scripts/run-script.js";

/**
 * Connections by role. `command` answers at once and queues while the server is away (callers own the deadlines; every write is
 * idempotent, so resending after a lost reply is harmless). `blocking` is only for one loop's XREAD or BZPOPMIN.
 */
export type Role = "command" | "blocking";

/** Codes of a server whose certificate this process has no reason to trust. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/;

/** Replies of a server that is reachable but wants another user or password: a retry does not help. */
const CREDENTIALS = /^(NOAUTH|WRONGPASS)\b/;

/** How long a connection with an outstanding answer may be silent before it is taken for half-open and replaced. */
const PING_EVERY_MS = 2_000;
const PING_PATIENCE_MS = 4_000;

export interface ConnectOptions {
  /** Called with every error once the connection was established (they repeat while the server is away); before that, `connect` throws. */
  readonly onError?: (error: Error) => void;
  readonly name?: string;
  readonly connectTimeoutMs?: number;
  /** Ends a script that keeps the server busy, as its refusals show. Ours take milliseconds, so the script is not ours. */
  readonly endsScripts?: boolean;
  /** The server is no master any more, and the connection is opened anew: its siblings should be, too. */
  readonly onElsewhere?: () => void;
}

/** A server that is no master is left at most this often: after a failover its address soon leads to the new one. */
const ELSEWHERE_EVERY_MS = 500;

/** ioredis' options without the reply mapping, for which the default is used. */
type Options = Omit<RedisOptions, "replyMapping">;

export function redisOptions(url: string, role: Role, options: ConnectOptions = {}): Options {
  return {
    ...parseRedisUrl(url),
    connectionName: `dataflex-mq:${options.name ?? role}`,
    lazyConnect: true,
    connectTimeout: options.connectTimeoutMs ?? 5_000,
    maxRetriesPerRequest: null,
    keepAlive: 10_000,
    // A quick first retry, then at most a second between retries: a restarted server is found quickly.
    retryStrategy: (times) => Math.min(25 * 2 ** Math.min(times, 6), 1_000),
    // A blocking command must never be resent automatically, nor be queued and sent after its caller has gone: its reader decides
    // what to read next.
    autoResendUnfulfilledCommands: role === "command",
    enableOfflineQueue: role === "command",
    reconnectOnError: leavesDemoted(options.onElsewhere),
  };
}

/** Tells ioredis to open a connection anew when what answers is no master; the refused command itself fails, and its caller asks again. */
function leavesDemoted(onElsewhere: () => void = () => {}): (error: Error) => boolean {
  let left = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (!isElsewhere(error) || performance.now() - left < ELSEWHERE_EVERY_MS) return false;
    left = performance.now();
    onElsewhere();
    return true;
  };
}

/** `redis://[user:password@]host:port[/db]`, `rediss://…`, `unix:///path[?db=n]`. Errors: USAGE naming what is wrong. */
function parseRedisUrl(url: string): Options {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw new DataflexError(
      "USAGE",
      `not a Redis address: "${redactUrl(url)}". Write redis://HOST:PORT or unix:///PATH/redis.sock`,
    );
  }
  if (parsed.searchParams.has("keyPrefix")) {
    throw new DataflexError(
      "USAGE",
      "keyPrefix is refused: scripts and BullMQ would see other names than the client. Use another database number instead",
    );
  }
  const db = Number(parsed.searchParams.get("db") ?? parsed.pathname.slice(1)) || 0;
  const auth = {
    ...(parsed.username ? { username: decoded(parsed.username, url) } : {}),
    ...(parsed.password ? { password: decoded(parsed.password, url) } : {}),
  };
  if (parsed.protocol === "unix:") {
    if (!parsed.pathname)
      throw new DataflexError("USAGE", `no socket path in "${redactUrl(url)}". Write unix:///PATH/redis.sock`);
    return { path: decoded(parsed.pathname, url), db: Number(parsed.searchParams.get("db") ?? 0), ...auth };
  }
  if (parsed.protocol !== "redis:" && parsed.protocol !== "rediss:") {
    throw new DataflexError(
      "USAGE",
      `"${redactUrl(url)}" is no Redis address: the scheme must be redis, rediss or unix`,
    );
  }
  const tls = parsed.protocol === "rediss:" ? { tls: {} } : {};
  // An IPv6 host has brackets in addresses, and only there.
  const host = parsed.hostname.replace(/^\[(.*)\]$/, "$1") || "127.0.0.1";
  return { host, port: Number(parsed.port) || 6379, db, ...auth, ...tls };
}

function decoded(part: string, url: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new DataflexError(
      "USAGE",
      `not a Redis address: "${redactUrl(url)}". It holds a % that is not followed by two hexadecimal digits: write %25 for %`,
    );
  }
}

/** Opens a connection and waits until the server answers. Errors: REDIS_UNREACHABLE with the address and the reason. */
export async function connect(url: string, role: Role, options: ConnectOptions = {}): Promise<Redis> {
  const redis = new Redis(redisOptions(url, role, options));
  let last: Error | undefined;
  let stood = false;
  const refused = new Promise<never>((_, reject) => {
    redis.on("error", (error: Error) => {
      last = error;
      if (stood) options.onError?.(error);
      else if (CREDENTIALS.test(error.message)) reject(error);
    });
  });
  defineScripts(redis);
  const patience = options.connectTimeoutMs ?? 5_000;
  try {
    const connected = Promise.race([redis.connect().catch(() => whenReady(redis)), refused]);
    await within(patience, connected, () => {
      throw new Error("timed out");
    });
    stood = true;
  } catch {
    redis.disconnect();
    const [credentials] = CREDENTIALS.exec(last?.message ?? "") ?? [];
    if (credentials !== undefined) {
      throw new DataflexError(
        "REDIS_UNREACHABLE",
        `Redis at ${redactUrl(url)} refuses this user or password (${credentials}). ` +
          "Write them into the address: redis://USER:PASSWORD@HOST:PORT, or redis://:PASSWORD@HOST:PORT for the default user",
        { url: redactUrl(url) },
      );
    }
    const fix = CERTIFICATE.test((last as NodeJS.ErrnoException | undefined)?.code ?? "")
      ? "Trust the authority that signed its certificate: NODE_EXTRA_CA_CERTS=/path/to/ca.pem"
      : "Start it, or name another address with --redis";
    const stranger = last?.message.startsWith("Unknown RESP type") ? "what answers there is no Redis" : undefined;
    const reason =
      stranger ?? (last as NodeJS.ErrnoException | undefined)?.code ?? last?.message ?? `no answer in ${patience} ms`;
    throw new DataflexError("REDIS_UNREACHABLE", `cannot reach Redis at ${redactUrl(url)} (${reason}). ${fix}`, {
      url: redactUrl(url),
    });
  }
  if (role === "command") watchConnection(redis, options);
  return redis;
}

/** A command connection for as long as `use` needs it. */
export async function withRedis<T>(url: string, name: string, use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = await connect(url, "command", { name });
  try {
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}

function whenReady(redis: Redis): Promise<void> {
  return new Promise((resolve) => redis.once("ready", () => resolve()));
}

/**
 * A half-open socket never reports an error; a PING that goes unanswered does. The connection is then replaced, and commands are resent. A slow link
 * is not a dead one: the limit starts again with every byte that arrives.
 */
function watchConnection(redis: Redis, { endsScripts, onError }: ConnectOptions): void {
  let asked = false;
  let heard = performance.now();
  let bytes = 0;
  const timer = setInterval(() => {
    if (redis.status !== "ready") {
      asked = false;
      return;
    }
    if (!asked || redis.stream.bytesRead !== bytes) {
      heard = performance.now();
      bytes = redis.stream.bytesRead;
    }
    if (!asked) {
      asked = true;
      const answered = (): void => {
        asked = false;
      };
      redis.ping().then(answered, (error: Error) => {
        answered();
        if (endsScripts && error.message.startsWith("BUSY "))
          redis.script("KILL").catch((refused) => onError?.(refused));
      });
    } else if (performance.now() - heard > PING_PATIENCE_MS) {
      asked = false;
      redis.disconnect(true);
    }
  }, PING_EVERY_MS);
  timer.unref();
  redis.once("end", () => clearInterval(timer));
}

/**
 * For a process that is stopping: outstanding commands fail at once if the server is gone, and after `ms` if it is
 * only silent; otherwise signing off would wait for ever. Returns a function that cancels this.
 */
export function failFast(redis: Redis | undefined, ms: number): () => void {
  if (!redis) return () => {};
  const end = (): void => {
    // Between two retries there is no socket to close, and ioredis would keep the queued commands for ever: the next retry is the last.
    if (redis.status === "reconnecting") redis.options.retryStrategy = () => null;
    else redis.disconnect();
  };
  if (redis.status !== "ready") end();
  redis.once("close", end);
  const timer = setTimeout(end, ms);
  return () => {
    clearTimeout(timer);
    redis.off("close", end);
  };
}

/** The server's clock in ms: deadlines and incarnations use it, never a host's. */
export async function redisNow(redis: Redis): Promise<number> {
  const [seconds, micros] = (await redis.time()) as [string | number, string | number];
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}

/** Whether the server or the connection is at fault; anything else is a fault of this code or of its input. */
export function isRedisError(error: unknown): boolean {
  const { name, message, code } = (error ?? {}) as { name?: string; message?: string; code?: string };
  return (
    name === "ReplyError" ||
    name === "AbortError" ||
    name === "MaxRetriesPerRequestError" ||
    message === "Connection is closed." ||
    /^E[A-Z]+$/.test(code ?? "")
  );
}
