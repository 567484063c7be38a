import type { FailureRecord, ReleaseRecord, ResultRecord, StepRecord } from "./types.js";

/** One pipeline's results by step, ascending. */
export interface Series {
  readonly steps: number[];
  readonly results: ResultRecord[];
}

/** What the page knows of a run: each step once, however often and in whatever order it is told. */
export class RunHistory {
  readonly #series = new Map<string, Series>();
  readonly #waits = new Map<number, number>();
  #released: ReleaseRecord | undefined;
  readonly #failures: FailureRecord[] = [];
  readonly #ids = new Set<string>();
  /** Id of the newest record. */
  newest = "0-0";

  /** Answers whether the record was news. */
  add(record: StepRecord): boolean {
    if (this.#ids.has(record.id)) return false;
    this.#ids.add(record.id);
    if (isAfter(record.id, this.newest)) this.newest = record.id;
    if (record.kind === "released") {
      if (record.wait_ms !== null) this.#waits.set(record.step, record.wait_ms);
      if (!this.#released || isAfter(record.id, this.#released.id)) this.#released = record;
    } else if (record.kind === "failure") this.#failures.push(record);
    else this.#addResult(record);
    return true;
  }

  #addResult(record: ResultRecord): void {
    const series = this.of(record.pipeline);
    const at = placeOf(series.steps, record.step);
    if (series.steps[at] !== record.step) {
      series.steps.splice(at, 0, record.step);
      series.results.splice(at, 0, record);
    } else if (isAfter(record.id, series.results[at]!.id)) series.results[at] = record; // a step done again
  }

  of(pipeline: string): Series {
    const known = this.#series.get(pipeline);
    if (known) return known;
    const series: Series = { steps: [], results: [] };
    this.#series.set(pipeline, series);
    return series;
  }

  /** Time that the trainer stood still for a step, ms. */
  wait(step: number): number | undefined {
    return this.#waits.get(step);
  }
  get waits(): ReadonlyMap<number, number> {
    return this.#waits;
  }

  /** The newest release: it says what became of all pipelines together. */
  get released(): ReleaseRecord | undefined {
    return this.#released;
  }

  failures(step: number): FailureRecord[] {
    return this.#failures.filter((f) => f.step === step);
  }

  /** Time from a step's first put to its last delivered result that the trainer did not stand still for, ms. */
  hidden(step: number, pipelines: readonly string[]): number | undefined {
    const wait = this.#waits.get(step);
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
    for (const series of this.#series.values()) for (const step of series.steps.slice(-most)) steps.add(step);
    return [...steps].sort((a, b) => b - a).slice(0, most);
  }
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
