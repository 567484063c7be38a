import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { DataflexError } from "../../errors.js";
import { type Logger, silentLogger } from "../../log.js";
import { assignDevices, type DeviceAsked } from "./devices.js";
import type { HostReady } from "./host-messages.js";
import { PythonChild } from "./python-child.js";
import { PythonSlot, sameComponents } from "./python-slot.js";

/** How a worker runs Python components. */
export interface PythonSettings {
  /** The interpreter; default DFX_PYTHON, then python3. */
  readonly python?: string;
  /** `auto` takes a GPU where there is one; `cuda` insists on it. Default auto. */
  readonly device?: DeviceAsked;
  /** What each process may allocate, in MiB. Default: no limit of its own. */
  readonly memoryMb?: number;
  /** How long a process may take until it is ready. Default two minutes. */
  readonly startLimitMs?: number;
}

const START_LIMIT_MS = 120_000;

/** Python processes, one per slot, all ready. */
export interface PythonSlots {
  readonly slots: readonly PythonSlot[];
  readonly ready: HostReady;
  stop(): Promise<void>;
}

/** @throws DataflexError PLUGIN, BACKEND: as the first process finds it; none stays then. */
export async function startPython(
  files: readonly string[],
  count: number,
  log: Logger,
  settings: PythonSettings = {},
): Promise<PythonSlots> {
  const folder = mkdtempSync(join(tmpdir(), "dataflex-mq-python-"));
  const devices = assignDevices(settings.device ?? "auto", count);
  if (devices.some(({ visible }) => visible !== undefined)) log.info({ devices }, "GPUs of the slots");
  const slots = devices.map(
    ({ device, visible }, slot) =>
      new PythonSlot({
        ...common(files, log, settings),
        folder,
        slot,
        device,
        visible,
        env: { ...threads(count), ...env(visible) },
      }),
  );
  const stop = async (): Promise<void> => {
    await Promise.all(slots.map((slot) => slot.stop()));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const readies = await Promise.all(slots.map((slot) => slot.start()));
    const [ready] = readies;
    if (ready === undefined) throw new DataflexError("USAGE", "a worker has at least one slot");
    if (!readies.every((other) => sameComponents(ready, other))) {
      throw new DataflexError("PLUGIN", `a plugin's text changed while its processes started: ${files.join(", ")}`);
    }
    return { slots, ready, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What Python files declare, without a worker. @throws DataflexError PLUGIN. */
export async function declaredBy(
  files: readonly string[],
  log: Logger,
  settings: PythonSettings = {},
): Promise<HostReady["components"]> {
  const child = new PythonChild(null, { ...common(files, log, settings), device: "cpu", env: {} });
  try {
    return (await child.ready).components;
  } finally {
    await child.stop();
  }
}

/** What Python plugins would meet on this machine: interpreter, package, device. @throws DataflexError PLUGIN, BACKEND. */
export async function probePython(settings: PythonSettings): Promise<HostReady> {
  const [slot] = assignDevices(settings.device ?? "auto", 1);
  const { device, visible } = slot!;
  const child = new PythonChild(null, { ...common([], silentLogger, settings), device, env: env(visible) });
  try {
    return await child.ready;
  } finally {
    await child.stop();
  }
}

function common(files: readonly string[], log: Logger, settings: PythonSettings) {
  return {
    python: settings.python ?? process.env.DFX_PYTHON ?? "python3",
    files,
    startLimitMs: settings.startLimitMs ?? START_LIMIT_MS,
    log,
    ...(settings.memoryMb === undefined ? {} : { memoryBytes: settings.memoryMb * 2 ** 20 }),
  };
}

/** Each slot's share of the cores, unless the user has decided. */
function threads(count: number): Record<string, string> {
  const share = String(Math.max(1, Math.floor(availableParallelism() / count)));
  const names = ["OMP_NUM_THREADS", "MKL_NUM_THREADS"].filter((name) => process.env[name] === undefined);
  return Object.fromEntries(names.map((name) => [name, share]));
}

const env = (visible: string | undefined): Record<string, string> =>
  visible === undefined ? {} : { CUDA_VISIBLE_DEVICES: visible };
