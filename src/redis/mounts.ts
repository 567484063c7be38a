import type { Redis } from "ioredis";
import { pack, unpack } from "../protocol/codec.js";
import type { Handle } from "../protocol/messages.js";
import { HEARTBEAT_TTL_MS, MOUNT_TTL_MS, type RunKeys, runKeys, STATE_TTL_MS } from "./keys.js";
import { mountReport } from "./mount-report.js";
import { runScript, text } from "./scripts/run-script.js";

/** A handle before Redis has given it its incarnation. */
export type HandleBody = Omit<Handle, "incarnation">;

/** Fields of the mount hash beside `inc` and `mount_id`; scripts read `pipelines` and `need:<pipeline>`. */
function mountFields(handle: HandleBody): (string | Uint8Array)[] {
  return [
    "handle",
    pack(handle),
    "pipelines",
    handle.pipelines.map((p) => p.name).join(","),
    ...handle.pipelines.flatMap((p) => [`need:${p.name}`, `${p.stage}|${p.fields.map((f) => f.name).join(",")}`]),
  ];
}

export type MountOutcome = { word: "OK" | "SAME"; handle: Handle } | { word: "BUSY"; incarnation: number };

/** First come, first served: the same mount id gets what it got before, even if `body` has changed in between. */
export async function mountRun(redis: Redis, body: HandleBody, takeover: boolean): Promise<MountOutcome> {
  const keys = runKeys(body.run);
  const { word, rest } = await runScript(
    redis,
    "mount",
    [keys.mount, keys.trainer, keys.runs, keys.notices],
    [
      ...[keys.encoded, body.mount_id, takeover ? 1 : 0, MOUNT_TTL_MS, HEARTBEAT_TTL_MS],
      ...[body.run, mountReport(body), ...mountFields(body)],
    ],
  );
  if (word === "BUSY") return { word, incarnation: Number(text(rest[0])) };
  const handle = await readHandle(redis, keys);
  if (!handle || handle.mount_id !== body.mount_id) return { word: "BUSY", incarnation: handle?.incarnation ?? 0 };
  return { word: word as "OK" | "SAME", handle };
}

export async function readHandle(redis: Redis, keys: Pick<RunKeys, "mount">): Promise<Handle | undefined> {
  const [inc, blob] = await redis.hmgetBuffer(keys.mount, "inc", "handle");
  if (!inc || !blob) return undefined;
  return { ...(unpack(blob) as HandleBody), incarnation: Number(String(inc)) };
}

/** Puts a forgotten mount back. Answers whether this incarnation still owns the run. */
export async function restoreRun(redis: Redis, handle: Handle): Promise<boolean> {
  const keys = runKeys(handle.run);
  const { incarnation, ...body } = handle;
  const { word } = await runScript(
    redis,
    "restore",
    [keys.mount, keys.trainer, keys.runs],
    [keys.encoded, handle.mount_id, incarnation, MOUNT_TTL_MS, HEARTBEAT_TTL_MS, ...mountFields(body)],
  );
  return word === "OK";
}

/** Keeps the run busy for others; `leave` says goodbye. Answers OK, FENCED or NOT_MOUNTED. */
export async function trainerBeat(redis: Redis, handle: Handle, leave = false): Promise<string> {
  const keys = runKeys(handle.run);
  const { word } = await runScript(
    redis,
    "heartbeat",
    [keys.mount, keys.trainer, keys.steps],
    [handle.incarnation, MOUNT_TTL_MS, HEARTBEAT_TTL_MS, leave ? 1 : 0, STATE_TTL_MS],
  );
  return word;
}

/** Runs whose handles one process remembers; more are read again. */
const HANDLES_KEPT = 256;

/** Handles by run and incarnation: within an incarnation they never change, so each is read once. */
export class Handles {
  readonly #redis: Redis;
  readonly #known = new Map<string, Handle>();

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /** Undefined when the run is not mounted, or mounted by another incarnation. */
  async get(run: string, incarnation: number): Promise<Handle | undefined> {
    const known = this.#known.get(run);
    if (known?.incarnation === incarnation) return known;
    const fresh = await readHandle(this.#redis, runKeys(run));
    if (!fresh) return undefined;
    this.set(fresh);
    return fresh.incarnation === incarnation ? fresh : undefined;
  }

  set(handle: Handle): void {
    this.#known.set(handle.run, handle);
    if (this.#known.size > HANDLES_KEPT) this.#known.delete(this.#known.keys().next().value!);
  }
}
