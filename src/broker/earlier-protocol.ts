import type { Redis } from "ioredis";
import type { Logger } from "../log.js";
import { pack, unpack } from "../protocol/codec.js";
import { PROTOCOL_VERSIONS } from "../protocol/messages.js";
import type { MountReply } from "../protocol/mount-messages.js";
import { earlierKeys } from "../redis/keys.js";
import { readRange } from "../redis/streams.js";

/** As any reply's. */
const REPLY_MS = 60_000;
/** Trainers repeat their request every few seconds: the rest is read next time. */
const AT_ONCE = 100;

/**
 * Trainers and workers of an earlier protocol use keys of their own and never meet this one's. So that they do not wait in vain, their
 * mount requests are refused in their own format, and their workers are named in the log.
 */
export class EarlierProtocol {
  readonly #redis: Redis;
  readonly #log: Logger;
  #workers = 0;

  constructor(redis: Redis, log: Logger) {
    this.#redis = redis;
    this.#log = log;
  }

  async refuse(): Promise<void> {
    const { control, reply, workers } = earlierKeys;
    const [requests, alive] = await Promise.all([
      readRange(this.#redis, control, "-", "+", AT_ONCE),
      this.#redis.zcount(workers, Date.now(), "+inf"),
    ]);
    for (const { id, fields } of requests) {
      const mountId = mountIdOf(fields.request);
      if (mountId !== undefined) await this.#redis.set(reply(mountId), Buffer.from(pack(REFUSAL)), "PX", REPLY_MS);
      await this.#redis.xdel(control, id);
      this.#log.warn({ mount_id: mountId }, "a trainer of an earlier protocol was refused: upgrade its dataflex-mq");
    }
    if (alive > this.#workers)
      this.#log.warn({ workers: alive }, "workers of an earlier protocol serve no run of this version: upgrade them");
    this.#workers = alive;
  }
}

const REFUSAL: MountReply = {
  state: "answered",
  answer: {
    ok: false,
    code: "PROTOCOL_VERSION",
    message: `the client speaks an earlier protocol, this broker ${PROTOCOL_VERSIONS.join(", ")}: upgrade the client`,
    problems: [],
  },
};

/** Undefined if it cannot be read: no one waits for an answer then. */
function mountIdOf(request: Uint8Array | undefined): string | undefined {
  try {
    const { mount_id: id } = unpack(request ?? new Uint8Array()) as { mount_id?: unknown };
    return typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}
