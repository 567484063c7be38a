import type { Handle } from "../../protocol/messages.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import { runLabel } from "./labels.js";

/** How long a run that ended or fell silent is still shown. */
export const SILENT_MS = 15 * 60_000;

/** Steps between their outcome and their release; a trainer has a few open, and one that never releases must not fill the memory. */
const OPEN_STEPS = 256;

/** What is remembered of a run while its series are shown: one life of its trainer. */
export class LiveRun {
  readonly label: string;
  readonly incarnation: number;
  readonly specs: ReadonlyMap<string, PipelineSpec>;
  readonly onUnavailable: Handle["on_unavailable"];
  /** When it was last heard of, ms. */
  seen: number;
  /** Latest step at each point. */
  readonly steps = new Map<string, number>();
  readonly #latencies = new Map<string, number>();

  constructor(
    name: string,
    incarnation: number,
    known: { specs: ReadonlyMap<string, PipelineSpec>; onUnavailable: Handle["on_unavailable"] },
    seen: number,
  ) {
    this.label = runLabel(name);
    this.incarnation = incarnation;
    this.specs = known.specs;
    this.onUnavailable = known.onUnavailable;
    this.seen = seen;
  }

  /** A delivered pipeline of the step was settled, `ms` after the step's first put. */
  settledAfter(step: string, ms: number): void {
    this.#latencies.set(step, Math.max(ms, this.#latencies.get(step) ?? 0));
    if (this.#latencies.size > OPEN_STEPS) this.#latencies.delete(this.#latencies.keys().next().value!);
  }
  /** Milliseconds until the step's last delivered outcome; undefined when none was seen. */
  takeLatency(step: string): number | undefined {
    const ms = this.#latencies.get(step);
    this.#latencies.delete(step);
    return ms;
  }
}
