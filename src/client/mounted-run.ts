import type { Redis } from "ioredis";
import { every } from "../lifecycle.js";
import type { Handle } from "../protocol/messages.js";
import { HEARTBEAT_MS } from "../redis/keys.js";
import { heartbeat } from "../redis/scripts/heartbeat.js";
import { restoreRun } from "../redis/scripts/mount-run.js";
import { errorOf } from "../sentences.js";
import { answeredWithin } from "./deadline.js";
import { OpenSteps } from "./open-steps.js";
import { ReleasedSteps } from "./released-steps.js";

const GOODBYE_MS = 2_000;

/** Keeps a mounted run alive, and refuses its use once it was closed or fenced. */
export class MountedRun {
  readonly handle: Handle;
  protected readonly redis: Redis;
  protected readonly steps: OpenSteps;
  protected readonly released: ReleasedSteps;
  protected readonly owner: boolean;
  protected fenced = false;
  readonly #stopBeat: () => Promise<void>;
  #closed = false;

  /** `owner`: this producer mounted the run and keeps it alive; others have attached and fence no one. */
  constructor(redis: Redis, handle: Handle, owner: boolean) {
    this.redis = redis;
    this.handle = handle;
    this.owner = owner;
    this.steps = new OpenSteps(redis, handle);
    this.released = new ReleasedSteps(redis, handle);
    this.#stopBeat = every(
      HEARTBEAT_MS,
      () => this.#beat(),
      () => {},
    );
  }

  /** Ends the heartbeat and signs off, so that the run can be mounted again at once. Open steps stay until their TTL. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#stopBeat();
    if (!this.owner || this.redis.status !== "ready") return;
    // A courtesy: otherwise the run stays busy until the heartbeat expires.
    await answeredWithin(GOODBYE_MS, "close", () => heartbeat(this.redis, this.handle, true)).catch(() => {});
  }

  /** Keeps the run's mount and its open steps alive; an attached producer only its own steps. */
  async #beat(): Promise<void> {
    if (this.fenced) return;
    if (this.owner) {
      const word = await heartbeat(this.redis, this.handle);
      if (word === "FENCED") this.fenced = true;
      else if (word === "NOT_MOUNTED") this.fenced = !(await restoreRun(this.redis, this.handle));
    }
    await this.steps.tend(this.owner);
    if (this.owner) await this.released.tend();
    else this.steps.forgetSettled();
  }

  protected assertUsable(): void {
    const { run, incarnation } = this.handle;
    if (this.#closed) throw errorOf("CLOSED.run", { run });
    if (this.fenced) throw errorOf("FENCED", { run, incarnation });
  }
}
