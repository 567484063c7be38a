import { readFileSync } from "node:fs";
import type { Check } from "../../lifecycle.js";
import type { PythonBeat } from "../../redis/presence.js";
import type { PythonMemory } from "./host-messages.js";
import type { PythonSlots } from "./python-slots.js";

/** How a worker runs Python, for heartbeat, metrics and readiness. */
export function pythonReport(
  { ready, slots }: PythonSlots,
  hosts: readonly { readonly memory: PythonMemory }[],
): PythonBeat {
  return {
    python: ready.python,
    torch: ready.torch,
    components: ready.components.map(({ kind, name }) => `${kind} ${name}`),
    slots: slots.map((slot, i) => {
      const { name: device, model, reason } = slot.device;
      const { rss_bytes, gpu_bytes } = hosts[i]?.memory ?? { rss_bytes: 0, gpu_bytes: 0 };
      return {
        ...{ device, model, reason, gpu: slot.visible ?? null, up: slot.isUp, restarts: slot.restarts },
        rss_bytes: slot.isUp ? (residentBytes(slot.pid) ?? rss_bytes) : 0,
        gpu_bytes: slot.isUp ? gpu_bytes : 0,
      };
    }),
  };
}

/** For readiness: every slot has its process. */
export function pythonCheck({ ready, slots }: PythonSlots): Check {
  const torch = ready.torch === null ? "" : `, torch ${ready.torch}`;
  const devices = [...new Set(slots.map((slot) => slot.device.name))].join(", ");
  const down = slots.flatMap((slot, i) => (slot.isUp ? [] : [`${i}${slot.why === undefined ? "" : ` (${slot.why})`}`]));
  const missing = `the Python process of slot ${down.join(", ")} of ${slots.length} is not there; it is started again`;
  const reason = down.length === 0 ? `Python ${ready.python}${torch}, ${devices}` : missing;
  return { name: "python", ok: down.length === 0, reason };
}

/** What a process holds in memory now; undefined where the system does not say. */
function residentBytes(pid: number | undefined): number | undefined {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024 || undefined;
  } catch {
    return undefined;
  }
}
