import { spawnSync } from "node:child_process";
import { DataflexError } from "../../errors.js";

/** `auto`, `cpu`, `cuda`, or one GPU by its number among the visible ones: `cuda:1`. */
export type DeviceAsked = "auto" | "cpu" | "cuda" | `cuda:${number}`;

/** @throws DataflexError USAGE. */
export function parseDevice(text: string): DeviceAsked {
  if (text === "auto" || text === "cpu" || /^cuda(:\d{1,3})?$/.test(text)) return text as DeviceAsked;
  throw new DataflexError("USAGE", `device "${text}" is none of auto, cpu, cuda, cuda:N`);
}

/** The device that a slot's process is asked to use, and the one GPU that it can see (an index, `GPU-…` or `MIG-…`). */
export interface SlotDevice {
  readonly device: "auto" | "cpu" | "cuda";
  readonly visible?: string;
}

/**
 * Slots take the visible GPUs in turn. A process sees only its own GPU: CUDA counts devices once, so this
 * is decided before the process starts.
 *
 * @throws DataflexError BACKEND when a GPU is asked for and there is none.
 */
export function assignDevices(
  asked: DeviceAsked,
  slots: number,
  gpus: readonly string[] = asked === "cpu" ? [] : visibleGpus(process.env.CUDA_VISIBLE_DEVICES),
): SlotDevice[] {
  const all = Array.from({ length: slots }, (_, slot) => slot);
  if (asked === "cpu") return all.map(() => ({ device: "cpu" }));
  if (gpus.length === 0) {
    if (asked === "auto") return all.map(() => ({ device: "cpu" }));
    throw new DataflexError(
      "BACKEND",
      `device ${asked} was asked for, and no GPU is visible (nvidia-smi -L, CUDA_VISIBLE_DEVICES)`,
    );
  }
  if (asked === "auto" || asked === "cuda") {
    return all.map((slot) => ({ device: asked, visible: gpus[slot % gpus.length]! }));
  }
  const gpu = gpus[Number(asked.slice("cuda:".length))];
  if (gpu === undefined) {
    throw new DataflexError(
      "BACKEND",
      `device ${asked} was asked for, and ${gpus.length} GPUs are visible, from cuda:0 on`,
    );
  }
  return all.map(() => ({ device: "cuda", visible: gpu }));
}

/** The GPUs that this process may use; those that the user named, if any were. An empty name means none. */
function visibleGpus(named: string | undefined): string[] {
  if (named !== undefined) {
    return named
      .split(",")
      .map((id) => id.trim())
      .filter((id) => id !== "" && id !== "-1");
  }
  const { status, stdout } = spawnSync("nvidia-smi", ["-L"], { encoding: "utf8", timeout: 20_000 });
  if (status !== 0) return [];
  return [...stdout.matchAll(/^GPU \d+: .*\(UUID: (GPU-[^)]+)\)/gm)].map((match) => match[1]!);
}
