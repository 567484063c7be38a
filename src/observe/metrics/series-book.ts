import { LABELS, type LabelName, OTHER } from "./labels.js";

export type Labels = Readonly<Record<string, string>>;

/** A metric as the book knows it. */
export interface Kind {
  readonly name: string;
  readonly labels: readonly LabelName[];
  /** Lines that one series of it takes on the page: a histogram has one a bucket. */
  readonly lines: number;
  /** Values under `_other` add up; those of gauges would only overwrite each other. */
  readonly addsUp: boolean;
}

/** What a run needs at least; it is not begun where there is no room for so many lines. */
const ROOM_FOR_A_RUN = 60;

/**
 * Keeps labels to their vocabulary and the page to its size, and remembers which series exist, so that a run's can be taken away. What is
 * beyond a label's cap, or has no room any more, goes to one series whose open labels are all `_other`; a value is forgotten, and makes
 * room, with its last series.
 */
export class SeriesBook {
  readonly #values = new Map<LabelName, Map<string, number>>();
  readonly #series = new Map<string, Map<string, Labels>>();
  readonly #most: number;
  #lines = 0;

  /** `most`: lines for which there is room; the few series of `_other` come on top. */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * The labels to record under: those given where they may have a series, else `_other` for each that is not of a closed list; undefined
   * where that would say nothing.
   */
  admit(kind: Kind, given: Labels): Labels | undefined {
    const closed = this.#closed(kind, given);
    if (!kind.addsUp && Object.values(closed).includes(OTHER)) return undefined;
    const own = this.#known(kind, closed);
    if (own) return own;
    if (this.#hasRoom(kind, closed)) return this.#add(kind, closed);
    if (!kind.addsUp) return undefined;
    const other = { ...closed };
    for (const name of kind.labels) if (ruleOf(name).cap) other[name] = OTHER;
    return this.#known(kind, other) ?? this.#add(kind, other);
  }

  /** Forgets and answers the series of a metric, all or those that have a label's value. */
  take(kind: Kind, label?: LabelName, value?: string): Labels[] {
    const taken: Labels[] = [];
    const series = this.#series.get(kind.name);
    for (const [key, labels] of series ?? []) {
      if (label !== undefined && labels[label] !== value) continue;
      series?.delete(key);
      taken.push(labels);
      this.#lines -= kind.lines;
      for (const [name, of] of Object.entries(labels)) this.#count(name as LabelName, of, -1);
    }
    return taken;
  }

  #known({ name, labels }: Kind, of: Labels): Labels | undefined {
    return this.#series.get(name)?.get(keyOf(labels, of));
  }

  #add(kind: Kind, labels: Labels): Labels {
    const series = this.#series.get(kind.name) ?? new Map<string, Labels>();
    this.#series.set(kind.name, series.set(keyOf(kind.labels, labels), labels));
    this.#lines += kind.lines;
    for (const name of kind.labels) this.#count(name, labels[name]!, 1);
    return labels;
  }

  /** Every value is of its vocabulary, or may come into it. */
  #closed({ labels: names }: Kind, given: Labels): Record<string, string> {
    const labels: Record<string, string> = {};
    for (const name of names) {
      const value = given[name] || OTHER;
      const { values } = ruleOf(name);
      labels[name] = values && !values.includes(value) ? OTHER : value;
    }
    return labels;
  }

  #hasRoom({ labels: names, lines, addsUp }: Kind, labels: Labels): boolean {
    let needed = lines;
    for (const name of names) {
      const { cap } = ruleOf(name);
      if (cap === undefined) continue;
      const live = this.#values.get(name);
      if (live?.has(labels[name]!)) continue;
      if (labels[name] === OTHER || (live?.size ?? 0) >= cap) return false;
      if (name === "run") needed = ROOM_FOR_A_RUN;
    }
    // What is known of queues, workers and Redis must not be missed because there are many runs.
    return this.#lines + needed <= this.#most || (!addsUp && !names.includes("run"));
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

const ruleOf = (name: LabelName): { values?: readonly string[]; cap?: number } => LABELS[name];
const keyOf = (names: readonly LabelName[], labels: Labels): string => names.map((name) => labels[name]).join("\n");
