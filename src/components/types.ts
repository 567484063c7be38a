import type { z } from "zod";
import type { Batch } from "../batch/batch.js";
import type { RowVector } from "../batch/row-vector.js";
import type { TensorLike } from "../batch/tensor-backend.js";
import type { TokenField } from "../batch/token-field.js";
import type { FieldNeed, Mechanism } from "../protocol/messages.js";
import type { Stage } from "../protocol/stages.js";

export const KINDS = ["scorer", "reweighter", "selector", "mixer"] as const;
export type Kind = (typeof KINDS)[number];

/** Actuator kind of each mechanism. */
export const ACTUATOR_KIND = { reweight: "reweighter", select: "selector", mix: "mixer" } as const satisfies Record<
  Mechanism,
  Kind
>;

/** `prompt` and `response` both mean one score a row (group values are spread back to rows); `token` is `(rows, L)`. */
export const GRANULARITIES = ["prompt", "response", "token", "domain"] as const;
export type Granularity = (typeof GRANULARITIES)[number];

/** What a component must see together: each row alone, whole groups, or the whole step. The default is `batch`. */
export const ROWS = ["independent", "group", "batch"] as const;
export type Rows = (typeof ROWS)[number];

/** Shape of the scores an actuator takes: `row` is `(rows,)`, `token` is `(rows, L)`. */
export type Accepts = "row" | "token";

/** Where a formula comes from and how it was checked; printed by `components NAME` and in docs/components.md. */
export interface Source {
  /** "arXiv 2503.14476, eq. 11", "verl core_algos.py" … */
  readonly ref: string;
  readonly verified: string;
  /** How this differs from the Python original or the paper, if it does. */
  readonly differs?: string;
}

/** The text part of a component: what `components NAME` prints. All optional for a user's own component. */
export interface ComponentDoc {
  /** One line in plain words. */
  readonly summary?: string;
  readonly formula?: string;
  /** Rules for ties, empty, single element, all-equal, masked and non-finite input. */
  readonly edges?: readonly string[];
  /** Parameter name → one line with meaning and domain. */
  readonly params?: Readonly<Record<string, string>>;
  readonly source?: Source;
}

/** Last argument of `score` and `act`. */
export interface Context<P> {
  readonly params: P;
  readonly step: number;
  readonly trigger: number;
  readonly run: string;
  /** Seeded by (run, step, trigger, pipeline, component): uniform in [0, 1). The same step always draws the same numbers. */
  readonly rng: () => number;
  readonly signal: AbortSignal;
  /** Something the user should know. Equal texts are kept once, over all shards: put numbers into `count`, not into the text. */
  warn(message: string): void;
  /** Adds to a metric of the step. Shards add up, so only counts and sums make sense here. */
  count(metric: string, amount: number): void;
}

/**
 * What `score` and a reweighter's `act` may return. One number a row: a RowVector, an array of length rows, or a tensor
 * `(rows,)`. Token-shaped: a TokenField, a tensor `(rows, L)`, or a flat array of length rows × L.
 */
export type Scores = RowVector | TokenField | TensorLike | ArrayLike<number>;

/** What a selector's `act` may return: kept row indices, a 0/1 RowVector, or for `token` a 0/1 TokenField or tensor. */
export type Kept = ArrayLike<number> | RowVector | TokenField | TensorLike;

/** The scores as an actuator sees them. */
export type ScoresOf<A extends Accepts> = A extends "token" ? TokenField : RowVector;

/**
 * What a JSON Schema cannot say about parameters, as data: a closed list, so that a process without the component's code can
 * check it. `less`: the first parameter is below the second; `at_most`: not above it. Applies where both are numbers.
 */
export const RULES = ["less", "at_most"] as const;
export interface Rule {
  readonly rule: (typeof RULES)[number];
  readonly params: readonly [string, string];
}

interface Declared<S extends z.ZodType> {
  /** `[a-z][a-z0-9_]*`, unique within its kind. */
  readonly name: string;
  /**
   * Fields it reads. A bare name means the field's usual scope (`fieldNeed` in needs.ts): `response` for rewards and the mask
   * itself, none for the string columns `uid`, `domain`, `session`, `mask` for every other token matrix.
   */
  readonly requires?: readonly (string | FieldNeed)[];
  readonly needs_groups?: boolean;
  readonly rows?: Rows;
  /** A `z.strictObject`, so that a misspelt parameter is refused. */
  readonly params: S;
  /** What holds between parameters; checked at mount. */
  readonly rules?: readonly Rule[];
  readonly doc?: ComponentDoc;
}

export interface ScorerDefinition<S extends z.ZodType> extends Declared<S> {
  readonly granularity: Exclude<Granularity, "domain">;
  readonly timing: Stage;
  score(batch: Batch, ctx: Context<z.output<S>>): Scores | Promise<Scores>;
}

export interface ReweighterDefinition<S extends z.ZodType, A extends Accepts = Accepts> extends Declared<S> {
  readonly accepts: A;
  /** Only where it reads fields later than its scorer's stage. */
  readonly timing?: Stage;
  /** Raw weights ≥ 0 of the same shape as `scores`, before normalisation. */
  act(scores: ScoresOf<A>, batch: Batch, ctx: Context<z.output<S>>): Scores | Promise<Scores>;
}

export interface SelectorDefinition<S extends z.ZodType, A extends Accepts = Accepts> extends Declared<S> {
  readonly accepts: A;
  /** Only where it reads fields later than its scorer's stage. */
  readonly timing?: Stage;
  act(scores: ScoresOf<A>, batch: Batch, ctx: Context<z.output<S>>): Kept | Promise<Kept>;
}

/** What `define*` adds: the kind, the fields with their scopes, and every default filled in. */
interface Defined<K extends Kind> {
  readonly kind: K;
  readonly needs: readonly FieldNeed[];
  readonly needs_groups: boolean;
  readonly rows: Rows;
}

export type Scorer<S extends z.ZodType = z.ZodType> = ScorerDefinition<S> & Defined<"scorer">;
export type Reweighter<S extends z.ZodType = z.ZodType, A extends Accepts = Accepts> = ReweighterDefinition<S, A> &
  Defined<"reweighter">;
export type Selector<S extends z.ZodType = z.ZodType, A extends Accepts = Accepts> = SelectorDefinition<S, A> &
  Defined<"selector">;
export type Component = Scorer | Reweighter | Selector;
/** The kinds that exist as code so far. */
export type ComponentKind = Component["kind"];
export type ComponentOf<K extends ComponentKind> = Extract<Component, { kind: K }>;
