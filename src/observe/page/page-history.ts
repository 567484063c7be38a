import type {
  FailureRecord,
  HistoryRecord,
  MountRecord,
  ReleaseRecord,
  ResultRecord,
  StepRecord,
} from "./page-types.js";

/** One pipeline's results by step, ascending. */
export interface Series {
  readonly steps: readonly number[];
  readonly results: readonly ResultRecord[];
}

/**
 * What the page knows of a run: each step once, however often and in whatever order its records arrive. A trainer that goes back to a checkpoint
 * takes the steps from there on with it: those of its earlier life are forgotten.
 */
export class RunHistory {
  readonly #series = new Map<string, { steps: number[]; results: ResultRecord[] }>();
  readonly #releases = new Map<number, ReleaseRecord>();
  #failures: FailureRecord[] = [];
  readonly #ids = new Set<string>();
  /** First step of each incarnation. */
  readonly #began = new Map<number, number>();
  readonly mounts = new Map<number, MountRecord>();
  #released: ReleaseRecord | undefined;
  /** Id of the newest record. */
  newest = "0-0";

  /** Answers whether the record was new. */
  add(record: HistoryRecord): boolean {
    if (this.#ids.has(record.id)) return false;
    this.#ids.add(record.id);
    if (isAfter(record.id, this.newest)) this.newest = record.id;
    if (record.kind === "mounted") this.mounts.set(record.incarnation, record);
    else if (this.#isPast(record)) return false;
    else this.#addStep(record);
    return true;
  }

  #addStep(record: StepRecord): void {
    if (record.step < (this.#began.get(record.incarnation) ?? Number.POSITIVE_INFINITY)) {
      this.#began.set(record.incarnation, record.step);
      this.#forgetPast();
    }
    if (record.kind === "failure") this.#failures.push(record);
    else if (record.kind === "result") this.#addResult(record);
    else {
      if (isAfter(record.id, this.#releases.get(record.step)?.id ?? "0-0")) this.#releases.set(record.step, record);
      if (!this.#released || isAfter(record.id, this.#released.id)) this.#released = record;
      if (record.combined) this.#addResult(combinedResult(record, record.combined));
    }
  }

  #addResult(record: ResultRecord): void {
    const series = this.#seriesOf(record.pipeline);
    const at = placeOf(series.steps, record.step);
    if (series.steps[at] !== record.step) {
      series.steps.splice(at, 0, record.step);
      series.results.splice(at, 0, record);
    } else if (isAfter(record.id, series.results[at]!.id)) series.results[at] = record; // a step done again
  }

  /** A later life of the trainer began at this step or before it. */
  #isPast({ incarnation, step }: StepRecord): boolean {
    for (const [life, began] of this.#began) if (life > incarnation && began <= step) return true;
    return false;
  }

  #forgetPast(): void {
    for (const series of this.#series.values()) {
      const kept = series.results.filter((r) => !this.#isPast(r));
      if (kept.length === series.results.length) continue;
      series.results = kept;
      series.steps = kept.map((r) => r.step);
    }
    this.#failures = this.#failures.filter((f) => !this.#isPast(f));
    for (const [step, release] of this.#releases) if (this.#isPast(release)) this.#releases.delete(step);
  }

  #seriesOf(pipeline: string): { steps: number[]; results: ResultRecord[] } {
    const known = this.#series.get(pipeline);
    if (known) return known;
    const series = { steps: [], results: [] };
    this.#series.set(pipeline, series);
    return series;
  }
  of(pipeline: string): Series {
    return this.#seriesOf(pipeline);
  }

  /** Time that the trainer stood still for a step, ms. */
  wait(step: number): number | undefined {
    return this.#releases.get(step)?.wait_ms ?? undefined;
  }
  /** Steps whose wait is known, ascending. */
  get waited(): number[] {
    return [...this.#releases.keys()].filter((step) => this.wait(step) !== undefined).sort((a, b) => a - b);
  }

  /** The newest release: it says what became of all pipelines together. */
  get released(): ReleaseRecord | undefined {
    return this.#released;
  }

  /** Code of the error for which a step trained without weights. */
  neutral(step: number): string | undefined {
    return this.#releases.get(step)?.neutral;
  }

  failures(step: number): FailureRecord[] {
    return this.#failures.filter((f) => f.step === step);
  }

  /** Time from a step's first put to its last delivered result that the trainer did not stand still for, ms. */
  hidden(step: number, pipelines: readonly string[]): number | undefined {
    const wait = this.wait(step);
    const took = pipelines.map((name) => this.at(name, step)?.ms ?? 0);
    return wait === undefined ? undefined : Math.max(0, Math.max(0, ...took) - wait);
  }

  at(pipeline: string, step: number): ResultRecord | undefined {
    const { steps, results } = this.of(pipeline);
    const at = placeOf(steps, step);
    return steps[at] === step ? results[at] : undefined;
  }

  /** Newest steps of any kind, newest first. */
  newestSteps(most: number): number[] {
    const steps = new Set<number>(this.#failures.map((f) => f.step));
    for (const { step, neutral } of this.#releases.values()) if (neutral) steps.add(step);
    for (const series of this.#series.values()) for (const step of series.steps.slice(-most)) steps.add(step);
    return [...steps].sort((a, b) => b - a).slice(0, most);
  }
}

/** Name under which a run's composed weights are a series like a pipeline's. */
export const COMBINED = "_combined";

/** The weights that a step's loss used, as if a single pipeline had made them. */
function combinedResult(record: ReleaseRecord, { level, stats }: NonNullable<ReleaseRecord["combined"]>): ResultRecord {
  const { id, run, incarnation, at, step, trigger } = record;
  return {
    ...{ id, run, incarnation, at, step, trigger, stats },
    kind: "result",
    pipeline: COMBINED,
    mechanism: "reweight",
    stage: "",
    granularity: level === "token" ? "token" : "row",
    rows: stats.n,
    ms: null,
    ...{ metrics: {}, flags: [], warnings: [], timings: {}, worker: "", pid: 0, version: "" },
  };
}

/** Where a step stands, or would stand; almost always at the end. */
function placeOf(steps: readonly number[], step: number): number {
  let [low, high] = [0, steps.length];
  if (high > 0 && steps[high - 1]! < step) return high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle]! < step) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function isAfter(a: string, b: string): boolean {
  const [ams = 0, an = 0] = a.split("-").map(Number);
  const [bms = 0, bn = 0] = b.split("-").map(Number);
  return ams > bms || (ams === bms && an > bn);
}
