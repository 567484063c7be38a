import { LABELS, type LabelName, OTHER } from "./labels.js";

export type Labels = Readonly<Record<string, string>>;

/** Bounds what one metric may grow to, should a label's cap multiply with others in a way that nobody foresaw. */
const MAX_SERIES = 4_096;

/**
 * Keeps labels to their vocabulary and remembers which series exist, so that a run's can be taken away. Values beyond a label's
 * cap become `_other`; a value is forgotten, and makes room, with its last series.
 */
export class SeriesBook {
  readonly #values = new Map<LabelName, Map<string, number>>();
  readonly #series = new Map<string, Map<string, Labels>>();

  /** The labels to record under; undefined when the metric holds all the series it may. */
  admit(metric: string, names: readonly LabelName[], given: Labels): Labels | undefined {
    const labels: Record<string, string> = {};
    for (const name of names) labels[name] = this.#closed(name, given[name]);
    const series = this.#series.get(metric) ?? new Map<string, Labels>();
    this.#series.set(metric, series);
    const key = names.map((name) => labels[name]).join("\n");
    const known = series.get(key);
    if (known) return known;
    if (series.size >= MAX_SERIES) return undefined;
    series.set(key, labels);
    for (const name of names) this.#count(name, labels[name]!, 1);
    return labels;
  }

  /** Forgets and answers the series of `metric`, all or those that have a label's value. */
  take(metric: string, label?: LabelName, value?: string): Labels[] {
    const taken: Labels[] = [];
    const series = this.#series.get(metric);
    for (const [key, labels] of series ?? []) {
      if (label !== undefined && labels[label] !== value) continue;
      series?.delete(key);
      taken.push(labels);
      for (const [name, of] of Object.entries(labels)) this.#count(name as LabelName, of, -1);
    }
    return taken;
  }

  #closed(name: LabelName, value: string | undefined): string {
    const rule: { values?: readonly string[]; cap?: number } = LABELS[name];
    if (value === undefined || value === "") return OTHER;
    if (rule.values) return rule.values.includes(value) ? value : OTHER;
    const live = this.#values.get(name);
    return !live || live.has(value) || live.size < (rule.cap ?? 0) ? value : OTHER;
  }

  #count(name: LabelName, value: string, by: number): void {
    if (value === OTHER) return;
    const live = this.#values.get(name) ?? new Map<string, number>();
    this.#values.set(name, live);
    const count = (live.get(value) ?? 0) + by;
    if (count > 0) live.set(value, count);
    else live.delete(value);
  }
}
