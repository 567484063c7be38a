import { mkdirSync, readdirSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type PrivateRedis, startPrivateRedis } from "dataflex-mq/server";
import type { Redis } from "ioredis";
import { connect } from "../../src/redis/connect.js";
import { eventually } from "../../test/helpers/eventually.js";
import { freePort } from "../../test/helpers/ports.js";

export interface Server extends PrivateRedis {
  readonly folder: string;
  readonly port: number;
  /** The harness' own connection, which bypasses every proxy. */
  readonly raw: Redis;
}

const SYNC_MS = 30_000;

/** The Redis of the harness: one master at a time, durable as in production (append-only, fsync every second), replaced in several ways. */
export class RedisHouse {
  readonly #folder: string;
  #count = 0;
  #master!: Server;
  /** Former masters that still run. */
  readonly #retired: Server[] = [];

  constructor(folder: string) {
    this.#folder = folder;
  }

  async start(): Promise<void> {
    this.#master = await this.#open(this.#newFolder());
  }

  get url(): string {
    return this.#master.url;
  }
  get raw(): Redis {
    return this.#master.raw;
  }
  get pids(): number[] {
    return [this.#master, ...this.#retired].map((server) => server.pid);
  }

  signal(name: "SIGSTOP" | "SIGCONT"): void {
    process.kill(this.#master.pid, name);
  }

  /** Killed outright; `back` starts it again on what its append-only file holds, `fresh` without it. */
  async kill(): Promise<void> {
    await this.#close(this.#master);
  }
  async back(): Promise<void> {
    this.#master = await this.#open(this.#master.folder);
  }
  async fresh(): Promise<void> {
    this.#master = await this.#open(this.#newFolder());
  }

  /** Killed, and what it wrote in the last `ms` is not on the disk: what a power failure leaves under fsync every second. */
  async losePower(ms: number): Promise<void> {
    const before = appendOnlyFile(this.#master.folder);
    await pause(ms);
    await this.kill();
    const after = appendOnlyFile(this.#master.folder);
    if (before !== undefined && after?.path === before.path) truncateSync(after.path, before.bytes);
  }

  /** A replica that stopped following `lagMs` ago becomes the master. Answers the old one, which still runs until `retire`. */
  async promote(lagMs: number): Promise<Server> {
    const old = this.#master;
    this.#retired.push(old);
    const replica = await this.#open(this.#newFolder(), ["--replicaof", "127.0.0.1", String(old.port)]);
    await eventually(async () => (await replica.raw.info("replication")).includes("master_link_status:up"), {
      what: "the replica's first synchronisation",
      timeoutMs: SYNC_MS,
    });
    await replica.raw.call("REPLICAOF", "NO", "ONE");
    await pause(lagMs);
    this.#master = replica;
    return old;
  }
  /** The old master follows the new one: it answers, and refuses writes. */
  async demote(old: Server): Promise<void> {
    await old.raw.call("REPLICAOF", "127.0.0.1", String(this.#master.port));
  }
  async retire(old: Server): Promise<void> {
    this.#retired.splice(this.#retired.indexOf(old), 1);
    await this.#close(old);
  }

  async stop(): Promise<void> {
    const all = this.#master ? [this.#master, ...this.#retired] : [];
    await Promise.all(all.map((server) => this.#close(server)));
  }

  #newFolder(): string {
    const folder = join(this.#folder, `redis-${this.#count++}`);
    mkdirSync(folder);
    return folder;
  }

  async #open(folder: string, more: readonly string[] = []): Promise<Server> {
    const port = await freePort();
    const args = ["--dir", folder, "--bind", "127.0.0.1", "--port", String(port)];
    const server = await startPrivateRedis([
      ...args,
      ...["--appendonly", "yes", "--appendfsync", "everysec", "--repl-diskless-sync-delay", "0"],
      ...more,
    ]);
    return { ...server, folder, port, raw: await connect(server.url, "command", { name: "chaos" }) };
  }

  async #close(server: Server): Promise<void> {
    server.raw.disconnect();
    await server.stop();
  }
}

/** The file that a server appends to now. */
function appendOnlyFile(folder: string): { path: string; bytes: number } | undefined {
  const files = join(folder, "appendonlydir");
  const last = readdirSync(files)
    .filter((name) => name.endsWith(".incr.aof"))
    .sort()
    .at(-1);
  return last === undefined ? undefined : { path: join(files, last), bytes: statSync(join(files, last)).size };
}
