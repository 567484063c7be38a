import type { Redis } from "ioredis";
import { connect } from "../../src/redis/connect.js";
import { type PrivateRedis, startPrivateRedis } from "../../src/redis/private-server.js";

/** A Redis of one test file: a real server on a unix socket of its own, and a plain connection to look into it. */
export interface TestRedis extends PrivateRedis {
  readonly raw: Redis;
  /** Forgets everything, as a server restarted without its data would. */
  flush(): Promise<void>;
  /** Names of the client connections that dataflex-mq holds, this helper's own left out. */
  connections(): Promise<string[]>;
  keys(pattern: string): Promise<string[]>;
  usedBytes(): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
}

const OWN_NAME = "dataflex-mq:test";

/** `extra`: more options of redis-server; a later one wins over the private server's own. */
export async function startTestRedis(extra: readonly string[] = []): Promise<TestRedis> {
  const server = await startPrivateRedis(extra);
  const raw = await connect(server.url, "command", { name: "test" });
  const stop = async (): Promise<void> => {
    raw.disconnect();
    await server.stop();
  };
  return {
    url: server.url,
    pid: server.pid,
    raw,
    stop,
    flush: async () => void (await raw.flushall()),
    connections: async () => connectionNames(await raw.client("LIST")),
    keys: (pattern) => raw.keys(pattern),
    usedBytes: async () => Number(/used_memory:(\d+)/.exec(await raw.info("memory"))?.[1]),
    [Symbol.asyncDispose]: stop,
  };
}

function connectionNames(list: unknown): string[] {
  return [...String(list).matchAll(/ name=(\S*) /g)]
    .map(([, name]) => name ?? "")
    .filter((name) => name.startsWith("dataflex-mq:") && name !== OWN_NAME)
    .sort();
}
