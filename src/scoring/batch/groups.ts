import type { StringsColumn } from "../../columns/tensor.js";
import { DataflexError } from "../../errors.js";
import type { Frame } from "./frame.js";
import { rankOrder } from "./order.js";
import { RowVector } from "./row-vector.js";
import { NonFinite } from "./signals.js";

/**
 * Rows that share a string (a `uid`). Statistics are over the group's live rows, of each (uid, session) only the last one (by
 * `session_index`, where rows have one), since a session may leave several rows of one outcome. Results are spread back to every row of the group; a group without live rows, and
 * rows that are not real, give 0.
 */
export class Groups {
  readonly #frame: Frame;
  readonly #groupOf: Int32Array;
  readonly #counted: readonly Int32Array[];
  readonly #live: readonly Int32Array[];

  constructor(frame: Frame, groupOf: Int32Array, counted: readonly Int32Array[], live: readonly Int32Array[]) {
    this.#frame = frame;
    this.#groupOf = groupOf;
    this.#counted = counted;
    this.#live = live;
  }

  mean(vector: RowVector): RowVector {
    return this.#spread((rows) => sumOver(rows, vector.values) / rows.length);
  }
  sum(vector: RowVector): RowVector {
    return this.#spread((rows) => sumOver(rows, vector.values));
  }
  /** Unbiased (n − 1); 0 for a group of one. */
  std(vector: RowVector): RowVector {
    return this.#spread((rows) => {
      if (rows.length < 2) return 0;
      const mean = sumOver(rows, vector.values) / rows.length;
      let squares = 0;
      for (const i of rows) squares += (vector.values[i]! - mean) ** 2;
      return Math.sqrt(squares / (rows.length - 1));
    });
  }
  max(vector: RowVector): RowVector {
    return this.#spread((rows) => rows.reduce((max, i) => Math.max(max, vector.values[i]!), Number.NEGATIVE_INFINITY));
  }
  min(vector: RowVector): RowVector {
    return this.#spread((rows) => rows.reduce((min, i) => Math.min(min, vector.values[i]!), Number.POSITIVE_INFINITY));
  }
  /** Rows that statistics count. */
  count(): RowVector {
    return this.#spread((rows) => rows.length);
  }

  /**
   * 1 for the `k` live rows of each group with the highest (or lowest) value, 0 for the others; for equal values the lower row. In a
   * group of at most `k` live rows all are 1.
   */
  top(k: number, vector: RowVector, { largest = true }: { largest?: boolean } = {}): RowVector {
    const out = new Float64Array(this.#frame.rows);
    for (const rows of this.#live) {
      refuseNaN(rows, vector.values);
      for (const i of rankOrder(rows, vector.values, largest).subarray(0, k)) out[i] = 1;
    }
    return new RowVector(out, this.#frame);
  }

  /** The live rows of each group, ascending; for rules that need a whole group at once. Groups without live rows are left out. */
  members(): readonly Int32Array[] {
    return this.#live.filter((rows) => rows.length > 0);
  }

  #spread(statistic: (rows: Int32Array) => number): RowVector {
    const results = this.#counted.map((rows) => (rows.length === 0 ? 0 : statistic(rows)));
    const out = new Float64Array(this.#frame.rows);
    for (let i = 0; i < out.length; i++) if (this.#groupOf[i]! >= 0) out[i] = results[this.#groupOf[i]!]!;
    return new RowVector(out, this.#frame);
  }
}

/** What tells the rows of one session from others; without `uid` or `session` each row is its own. */
export interface Sessions {
  readonly uid?: StringsColumn | undefined;
  readonly session?: StringsColumn | undefined;
  /** Where each row stands in its session, `(rows,)`. */
  readonly index?: ArrayLike<number> | undefined;
}

export function makeGroups(frame: Frame, key: StringsColumn, sessions: Sessions): Groups {
  const counts = new Int32Array(key.table.length);
  const groupOf = new Int32Array(frame.rows).fill(-1);
  for (let i = 0; i < frame.rows; i++) {
    if (frame.real[i] !== 1) continue;
    groupOf[i] = key.index[i]!;
    if (frame.live[i] !== 1) continue;
    counts[key.index[i]!]! += 1;
  }
  const live = Array.from(counts, (n) => new Int32Array(n));
  const filled = new Int32Array(counts.length);
  for (let i = 0; i < frame.rows; i++) {
    if (frame.live[i] === 1) live[key.index[i]!]![filled[key.index[i]!]!++] = i;
  }
  if (!sessions.uid || !sessions.session) return new Groups(frame, groupOf, live, live);
  const counted = lastOfSession(frame, sessions);
  return new Groups(
    frame,
    groupOf,
    live.map((rows) => rows.filter((i) => counted[i] === 1)),
    live,
  );
}

/**
 * `(rows,)`: 1 = live and, among the live rows of its (uid, session), the one with the highest index (without indices, the last one);
 * without sessions, every live row.
 */
export function lastOfSession(frame: Frame, { uid, session, index }: Sessions): Uint8Array {
  if (!uid || !session) return frame.live;
  const last = new Map<number, number>();
  for (let i = 0; i < frame.rows; i++) {
    if (frame.live[i] !== 1) continue;
    const key = uid.index[i]! * session.table.length + session.index[i]!;
    const other = last.get(key);
    if (other === undefined || index === undefined || index[i]! > index[other]!) last.set(key, i);
  }
  const counted = new Uint8Array(frame.rows);
  for (const i of last.values()) counted[i] = 1;
  return counted;
}

export interface GroupSize {
  readonly name: string;
  readonly size: number;
}

/** Rows of each group that are not padding, in order of first appearance; rows of one session count once. */
export function groupSizes(frame: Frame, key: StringsColumn, session?: StringsColumn): GroupSize[] {
  const members = new Map<number, Set<number>>();
  for (let i = 0; i < frame.rows; i++) {
    if (frame.real[i] !== 1) continue;
    const group = members.get(key.index[i]!) ?? new Set();
    group.add(session === undefined ? i : session.index[i]!);
    members.set(key.index[i]!, group);
  }
  return [...members].map(([k, group]) => ({ name: key.table[k]!, size: group.size }));
}

function sumOver(rows: Int32Array, values: Float64Array): number {
  let sum = 0;
  for (const i of rows) sum += values[i]!;
  return sum;
}

function refuseNaN(rows: Int32Array, values: Float64Array): void {
  const bad = [...rows].filter((i) => Number.isNaN(values[i]));
  if (bad.length > 0) throw new NonFinite("a value in a group's ranking", bad, undefined, Number.NaN);
}

/** The error for a grouping that cannot be made. */
export function noSuchStrings(name: string, available: readonly string[]): DataflexError {
  return new DataflexError(
    "COMPONENT",
    `there is no string column '${name}' in this batch (it has ${available.join(", ") || "none"}); declare it in requires`,
    { name, available },
  );
}
