import type { PythonBeat } from "../../redis/presence.js";
import type { Meter } from "./meter.js";

const DEVICES = ["cpu", "gpu"] as const;

/** Records the state of a worker's Python processes. */
export class PythonMeter {
  readonly #meter: Meter;
  #restarts = 0;

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  record({ slots }: PythonBeat): void {
    const meter = this.#meter;
    const sum = (of: "rss_bytes" | "gpu_bytes" | "restarts"): number => slots.reduce((n, slot) => n + slot[of], 0);
    for (const device of DEVICES) {
      const own = slots.filter((slot) => (slot.device === "cpu" ? "cpu" : "gpu") === device);
      meter.set("dataflex_python_slots", { device }, own.filter(({ up }) => up).length);
    }
    meter.set("dataflex_python_slots_down", {}, slots.filter(({ up }) => !up).length);
    meter.set("dataflex_python_memory_bytes", { device: "cpu" }, sum("rss_bytes"));
    meter.set("dataflex_python_memory_bytes", { device: "gpu" }, sum("gpu_bytes"));
    const restarts = sum("restarts");
    // Plugins that were loaded again have new processes, whose count begins anew.
    meter.inc("dataflex_python_restarts_total", {}, restarts < this.#restarts ? restarts : restarts - this.#restarts);
    this.#restarts = restarts;
  }
}
