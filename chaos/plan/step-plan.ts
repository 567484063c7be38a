import type { Stage } from "dataflex-mq";
import { type Content, contentOf, type Fields, fieldsOf } from "./content.js";
import type { PutName } from "./event-names.js";
import { Random } from "./random.js";
import { MAX_WAIT_MS, type RunSpec } from "./runs.js";

/** Rows of the step that a put is for, in the words of `run.put`. */
type Rows =
  | { readonly keys: readonly string[]; readonly total_rows: number }
  | { readonly rows: readonly [number, number]; readonly total_rows: number };

/** One put of a step. */
export interface Piece {
  /** 0: the run's owner; n: its n-th attached rank. */
  readonly who: number;
  readonly stage: Stage;
  readonly rows: Rows;
  readonly fields: Fields;
  /** Other content that is put first and then replaced. */
  readonly draft?: Fields;
  /** Between the draft and what replaces it. */
  readonly draftMs: number;
  readonly pauseMs: number;
  readonly times: number;
  /** Comes when the wait has begun. */
  readonly late: boolean;
}

export interface StepPlan {
  readonly step: number;
  /** In the order of the row table. */
  readonly content: Content;
  /** Puts that come before all others, one after another: with keys, the first names the rows of the step. */
  readonly first: readonly Piece[];
  readonly others: readonly Piece[];
  /** Between the last put and the wait. */
  readonly busyMs: number;
  readonly patienceMs: number;
}

export interface PlanOptions {
  readonly seed: number;
  readonly chosen: { readonly puts: ReadonlySet<PutName> };
}

/** How a step is put. The same seed gives the same plan for the same chosen events. */
export function planStep({ seed, chosen }: PlanOptions, run: RunSpec, step: number): StepPlan {
  const random = new Random(seed, run.name, step, "plan");
  const happens = (name: PutName, share: number): boolean => random.chance(share) && chosen.puts.has(name);
  const content = contentOf(seed, run.name, step, 0);
  const draft = contentOf(seed, run.name, step, 1);
  const byKeys = random.chance(0.5);
  const reordered = happens("put-reordered", 0.7);
  const all = content.keys.map((_, row) => row);

  const piece = (stage: Stage, who: number, names: readonly string[], of: readonly number[], first: boolean): Piece => {
    const rows = reordered && byKeys && !first ? random.shuffled(of) : of;
    const late = happens("put-late", 0.1) && !first;
    const replaced = happens("put-replaced", 0.15) && !late;
    return {
      who,
      stage,
      rows: byKeys
        ? { keys: rows.map((row) => content.keys[row]!), total_rows: all.length }
        : { rows: [rows[0]!, rows.at(-1)! + 1], total_rows: all.length },
      fields: fieldsOf(content, names, rows),
      ...(replaced ? { draft: fieldsOf(draft, names, rows) } : {}),
      draftMs: random.chance(0.3) ? random.int(100, 1_500) : random.int(0, 50),
      pauseMs: random.chance(0.1) ? random.int(50, 600) : random.int(0, 30),
      times: happens("put-repeated", 0.15) ? 2 : 1,
      late,
    };
  };
  const split = (): readonly Part[] =>
    happens("put-split", 0.8) ? parts(random, all, run.ranks.length) : [{ who: 0, rows: all }];

  const first: Piece[] = [];
  const others: Piece[] = [];
  for (const [i, stage] of run.stages.entries()) {
    const whole = stage.whole.length > 0;
    if (whole) first.push(piece(stage.stage, 0, stage.whole, all, i === 0));
    // With keys the first put of a stage names all of them, and the first of the step fixes their order.
    const shares = byKeys && !whole ? [{ who: random.int(0, run.ranks.length + 1), rows: all }] : split();
    for (const { who, rows } of shares) others.push(piece(stage.stage, who, stage.parts, rows, i === 0 && !whole));
  }
  return {
    step,
    content,
    first,
    others: random.shuffled(others),
    busyMs: happens("put-early", 0.1) ? random.int(500, 5_000) : 0,
    patienceMs: happens("put-impatient", 0.1) ? random.int(1, random.chance(0.5) ? 10 : 400) : MAX_WAIT_MS,
  };
}

interface Part {
  readonly who: number;
  readonly rows: readonly number[];
}

/** Rows in one to three neighbouring parts, each for some producer. */
function parts(random: Random, all: readonly number[], ranks: number): Part[] {
  const cuts = new Set([0, all.length]);
  for (let n = random.int(0, 3); n > 0; n--) cuts.add(random.int(1, all.length));
  const bounds = [...cuts].sort((a, b) => a - b);
  return bounds.slice(1).map((stop, i) => ({ who: random.int(0, ranks + 1), rows: all.slice(bounds[i], stop) }));
}
