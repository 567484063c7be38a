import type { Redis } from "ioredis";
import { DEFAULT_LIMITS } from "../columns/limits.js";
import { defined } from "../defined.js";
import { DataflexError } from "../errors.js";
import type { Logger } from "../log.js";
import type { CatalogueEntry } from "../mounting/catalogue/catalogue-entry.js";
import { resolveMount } from "../mounting/catalogue/resolve.js";
import { problemText } from "../mounting/config/problems.js";
import { checkMountReply, checkMountRequest } from "../protocol/check-messages.js";
import { pack, unpack } from "../protocol/codec.js";
import { MAX_REQUEST_BYTES } from "../protocol/message-limits.js";
import { PROTOCOL_VERSIONS } from "../protocol/messages.js";
import type { MountAnswer, MountReply, MountRequest } from "../protocol/mount-messages.js";
import { isRedisError, redisNow } from "../redis/connect.js";
import { REPLY_TTL_MS, runKeys, sharedKeys } from "../redis/keys.js";
import { readCatalogue, workerPresence } from "../redis/presence.js";
import { mountRun } from "../redis/scripts/mount-run.js";
import type { Entry } from "../redis/streams.js";
import { deadLetter } from "./dead-letter.js";

/** No client waits longer; a deadline beyond it would keep an answer for as long as it says. */
const MAX_WAIT_MS = 86_400_000;

/** Answers mount requests: validates against the catalogues of live workers, then takes the run. */
export class Mounting {
  readonly #redis: Redis;
  readonly #log: Logger;

  constructor(redis: Redis, log: Logger) {
    this.#redis = redis;
    this.#log = log;
  }

  /** Ids of the entries that are answered; one that waits for a worker stays pending and is tried again. */
  async handle(entries: readonly Entry[]): Promise<string[]> {
    const tried = await Promise.allSettled(entries.map((e) => this.#one(e)));
    for (const t of tried)
      if (t.status === "rejected") this.#log.warn({ err: String(t.reason) }, "a mount is tried again");
    return entries
      .filter((_, i) => tried[i]?.status === "fulfilled" && (tried[i] as { value: boolean }).value)
      .map((e) => e.id);
  }

  async #one(entry: Entry): Promise<boolean> {
    const request = readRequest(entry);
    if (!request) {
      await deadLetter(this.#redis, entry, this.#log);
      return true;
    }
    const left = Math.min(request.deadline - (await redisNow(this.#redis)), MAX_WAIT_MS);
    if (left < 0 || (await this.#answered(request.mount_id))) return true;
    const answer = await this.#safely(request);
    const reply: MountReply = answer ? { state: "answered", answer } : { state: "waiting", for: "worker" };
    // The answer outlives the request: a request that is read again, after a crash before its acknowledgement, must not mount twice.
    const ttl = REPLY_TTL_MS + left;
    await this.#redis.set(sharedKeys.reply(request.mount_id), Buffer.from(pack(reply)), "PX", ttl);
    if (answer) await this.#redis.del(runKeys(request.run).claim(request.mount_id));
    return answer !== undefined;
  }

  async #answered(mountId: string): Promise<boolean> {
    const raw = await this.#redis.getBuffer(sharedKeys.reply(mountId));
    return raw !== null && checkMountReply(unpack(raw)).state === "answered";
  }

  /** The answer to a request that makes this code fail: retried, it would hold up all others for ever. */
  async #safely(request: MountRequest): Promise<MountAnswer | undefined> {
    try {
      return await this.#answer(request);
    } catch (error) {
      if (isRedisError(error)) throw error;
      this.#log.error({ run: request.run, err: String(error) }, "a mount failed");
      return refuse("INTERNAL", `the broker failed on this mount: ${String(error)}`);
    }
  }

  /** Undefined: there is no live worker yet. */
  async #answer(request: MountRequest): Promise<MountAnswer | undefined> {
    const version = Math.max(...request.v.filter((v) => PROTOCOL_VERSIONS.includes(v)));
    if (!Number.isFinite(version)) {
      return refuse(
        "PROTOCOL_VERSION",
        `the client speaks protocol ${request.v.join(", ")}, this broker ${PROTOCOL_VERSIONS.join(", ")}: upgrade the older one`,
      );
    }
    const catalogues = await this.#catalogues();
    if (catalogues.length === 0) return undefined;
    if ((await this.#redis.exists(runKeys(request.run).claim(request.mount_id))) === 0)
      return refuse("CONFIG", unclaimed(request.run));
    const { adv_estimator, provides, group_size, trainer } = request;
    const resolved = resolveMount(
      {
        dataflex: request.dataflex,
        mode: "live",
        ...defined({ adv_estimator, provides, group_size, trainer }),
      },
      catalogues,
    );
    if (!resolved.ok) {
      const list = resolved.problems.map(problemText).join("\n");
      return {
        ok: false,
        code: "CONFIG",
        message: `the configuration of run "${request.run}" was refused:\n${list}`,
        problems: resolved.problems,
      };
    }
    const body = {
      v: version,
      run: request.run,
      mount_id: request.mount_id,
      limits: DEFAULT_LIMITS,
      stages: resolved.stages,
      pipelines: resolved.pipelines,
      composition: resolved.composition,
      max_wait_ms: resolved.max_wait_ms,
      on_unavailable: resolved.on_unavailable,
      warnings: resolved.warnings,
    };
    const outcome = await mountRun(this.#redis, body, request.takeover);
    if (outcome.word === "BUSY") {
      return refuse(
        "RUN_BUSY",
        `run "${request.run}" has a living trainer (incarnation ${outcome.incarnation}). Stop it, name another run, or mount with takeover`,
      );
    }
    this.#log.info(
      {
        run: request.run,
        incarnation: outcome.handle.incarnation,
        pipelines: body.pipelines.map((p) => p.name),
        ...defined({ verl: trainer?.verl }),
      },
      "mounted",
    );
    return { ok: true, handle: outcome.handle };
  }

  /** Whether any worker lives: without one no mount can be answered. */
  async hasWorker(): Promise<boolean> {
    return (await workerPresence.alive(this.#redis)).length > 0;
  }

  async #catalogues(): Promise<{ fingerprint: string; entries: CatalogueEntry[] }[]> {
    const workers = await workerPresence.alive(this.#redis);
    const prints = [...new Set(workers.flatMap((w) => w.fingerprints))].sort();
    const found = await Promise.all(
      prints.map(async (fingerprint) => ({
        fingerprint,
        entries: await readCatalogue<CatalogueEntry[]>(this.#redis, fingerprint),
      })),
    );
    return found.filter((c): c is { fingerprint: string; entries: CatalogueEntry[] } => c.entries !== undefined);
  }
}

/** Everybody who may mount at all appends to one stream; whose run it is shows in who may write its keys. */
const unclaimed = (run: string): string =>
  `nobody who may write the keys of run "${run}" has asked for it: mount it with the user of that run, and a client of this version`;

function refuse(code: "CONFIG" | "PROTOCOL_VERSION" | "RUN_BUSY" | "INTERNAL", message: string): MountAnswer {
  return { ok: false, code, message, problems: [] };
}

function readRequest(entry: Entry): MountRequest | undefined {
  try {
    const body = entry.fields.request ?? new Uint8Array();
    return body.length > MAX_REQUEST_BYTES ? undefined : checkMountRequest(unpack(body));
  } catch (error) {
    if (error instanceof DataflexError) return undefined;
    throw error;
  }
}
