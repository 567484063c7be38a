import type { Redis } from "ioredis";
import type { Handle } from "../../protocol/messages.js";
import { STEP_OUTCOMES } from "../../protocol/outcome-words.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import { runKeys } from "../../redis/keys.js";
import { readableHandle } from "../../redis/mounts.js";
import { metricsOf } from "./definitions.js";
import { NO_SCORER } from "./labels.js";
import { LiveRun, SILENT_MS } from "./live-run.js";
import type { Meter } from "./meter.js";

/** What a new incarnation makes void: values of the old one's last step. Counters go on. */
const LAST_VALUES = metricsOf("broker", true)
  .filter((m) => m.type === "gauge" && m.labels.includes("run"))
  .map((m) => m.name);

/** The runs whose series are shown: they appear with their mount or first notice and go when nothing was heard of them for long. */
export class LiveRuns {
  readonly #meter: Meter;
  readonly #redis: Redis;
  readonly #now: () => number;
  readonly #runs = new Map<string, LiveRun>();

  constructor(meter: Meter, redis: Redis, now: () => number) {
    this.#meter = meter;
    this.#redis = redis;
    this.#now = now;
  }

  /** The run of a notice; its mount is read when the incarnation is new. */
  async of(name: string, incarnation: number): Promise<LiveRun> {
    const known = this.#runs.get(name);
    if (known && known.incarnation >= incarnation) return this.#touch(known);
    const handle = await readableHandle(this.#redis, runKeys(name));
    return handle && handle.incarnation >= incarnation ? this.meet(handle) : this.#appear(name, incarnation, undefined);
  }

  /** A mounted run: shown from now on. */
  meet(handle: Handle): LiveRun {
    const known = this.#runs.get(handle.run);
    if (known && known.incarnation >= handle.incarnation && known.specs.size > 0) return this.#touch(known);
    return this.#appear(handle.run, handle.incarnation, handle);
  }

  /** Queues that live runs post to need be watched even when no worker serves them. */
  get specs(): PipelineSpec[] {
    return [...this.#runs.values()].flatMap((run) => [...run.specs.values()]);
  }

  /** Sets how far a run has come: what is past a point was enqueued before. Steps that end out of order do not move it back. */
  reach(run: LiveRun, point: "enqueued" | "published" | "applied", step: number): void {
    if (!Number.isFinite(step)) return;
    for (const passed of new Set(["enqueued", point] as const)) {
      const latest = Math.max(step, run.steps.get(passed) ?? 0);
      run.steps.set(passed, latest);
      this.#meter.set("dataflex_run_step", { run: run.label, point: passed }, latest);
    }
  }

  /** Unix time in seconds at which the trainer was last heard of. */
  heard(run: LiveRun, at: number): void {
    this.#meter.set("dataflex_trainer_last_seen_timestamp_seconds", { run: run.label }, at);
  }

  /** Takes away the series of runs that nothing was heard of for SILENT_MS. */
  sweep(): void {
    const oldest = this.#now() - SILENT_MS;
    for (const [name, run] of this.#runs) {
      if (run.seen >= oldest) continue;
      this.#runs.delete(name);
      this.#meter.remove("run", run.label);
    }
  }

  #touch(run: LiveRun): LiveRun {
    run.seen = this.#now();
    return run;
  }

  #appear(name: string, incarnation: number, handle: Handle | undefined): LiveRun {
    const known = this.#runs.get(name);
    const mounted = handle && {
      specs: new Map(handle.pipelines.map((p) => [p.name, p])),
      onUnavailable: handle.on_unavailable,
    };
    // Without its mount, what an earlier incarnation mounted is the best guess.
    const facts = mounted ?? known ?? { specs: new Map(), onUnavailable: "error" as const };
    const run = new LiveRun(name, incarnation, facts, this.#now());
    if (known) this.#meter.remove("run", run.label, LAST_VALUES);
    this.#runs.set(name, run);
    for (const spec of run.specs.values()) this.#show(run, spec);
    return run;
  }

  /** Counters start at 0, so that the first step shows as an increase. */
  #show(run: LiveRun, spec: PipelineSpec): void {
    const base = { run: run.label, pipeline: spec.name, delivered: String(!spec.shadow), stage: spec.stage };
    for (const outcome of Object.keys(STEP_OUTCOMES)) this.#meter.init("dataflex_steps_total", { ...base, outcome });
    const components = { scorer: spec.scorer?.name ?? NO_SCORER, actuator: spec.actuator.name };
    this.#meter.set("dataflex_run_info", { ...base, mechanism: spec.mechanism, ...components }, 1);
  }
}
