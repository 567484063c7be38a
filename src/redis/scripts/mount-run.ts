import type { Redis } from "ioredis";
import { pack } from "../../protocol/codec.js";
import type { Handle } from "../../protocol/messages.js";
import { HEARTBEAT_TTL_MS, MOUNT_TTL_MS, runKeys } from "../keys.js";
import { mountReport } from "../mount-report.js";
import { readHandle } from "../mounts.js";
import { number, runScript } from "./run-script.js";

/** A handle before Redis has given it its incarnation. */
export type HandleBody = Omit<Handle, "incarnation">;

export type MountOutcome = { word: "OK" | "SAME"; handle: Handle } | { word: "BUSY"; incarnation: number };

/** The first caller wins: the same mount id gets what it got before, even if `body` has changed in between. */
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
  if (word === "BUSY") return { word, incarnation: number(rest[0]) };
  const handle = await readHandle(redis, keys);
  if (!handle || handle.mount_id !== body.mount_id) return { word: "BUSY", incarnation: handle?.incarnation ?? 0 };
  return { word, handle };
}

/** Restores a forgotten mount. Returns whether this incarnation still owns the run. */
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

/** Fields of the mount hash besides `inc` and `mount_id`; scripts read `pipelines` and `need:<pipeline>`. */
function mountFields(handle: HandleBody): (string | Uint8Array)[] {
  return [
    "handle",
    pack(handle),
    "pipelines",
    handle.pipelines.map((p) => p.name).join(","),
    ...handle.pipelines.flatMap((p) => [`need:${p.name}`, `${p.stage}|${p.fields.map((f) => f.name).join(",")}`]),
  ];
}
