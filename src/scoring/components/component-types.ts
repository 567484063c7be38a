import type { z } from "zod";
import type { FieldNeed, Mechanism } from "../../protocol/pipeline-spec.js";
import type { StateStep, StateValue } from "../../protocol/saved-state.js";
import type { Stage } from "../../protocol/stages.js";
import type { Batch } from "../batch/batch.js";
import type { RowVector } from "../batch/row-vector.js";
import type { TensorLike } from "../batch/tensor-backend.js";
import type { TokenField } from "../batch/token-field.js";
import type { PromptHistory } from "../mix/prompt-history.js";
import type { DomainSeries } from "../mix/series.js";

export const KINDS = ["scorer", "reweighter", "selector", "mixer", "policy"] as const;
export type Kind = (typeof KINDS)[number];

export function kindPlural(kind: Kind): string {
  return kind === "policy" ? "policies" : `${kind}s`;
}

/** Actuator kind of each mechanism. (`select` without a scorer takes a pre-rollout policy as its actuator.) */
export const ACTUATOR_KIND = { reweight: "reweighter", select: "selector", mix: "mixer" } as const satisfies Record<
  Mechanism,
  Kind
>;

/** What a score belongs to: `row` is `(rows,)`, `token` is `(rows, L)`. The scores that an actuator takes are of one or the other. */
export type Accepts = "row" | "token";

/** As a scorer's author may put it: `prompt` and `response` also mean one score a row (a group's score is spread back to its rows). */
export type Granularity = Accepts | "prompt" | "response";

/** What a component must see together: each row alone, whole groups, or the whole step. The default is `batch`. */
const ROWS = ["independent", "group", "batch"] as const;
export type Rows = (typeof ROWS)[number];

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
  /** Actuators: which score the formula means, by the names of scorers that give it. */
  readonly score?: string;
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
  /** Selectors with `remember` only, else empty: what they remembered of earlier steps of the run, oldest first. */
  readonly history: readonly StateStep[];
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
 * check it. `less`: the first parameter is below the second; `at_most`: not above it. Applies where both are numbers. Of mixers:
 * `floor_fits`: at most 1 / number of domains; `shares`: one number ≥ 0 a domain, with a sum above 0.
 */
export type Rule =
  | { readonly rule: "less" | "at_most"; readonly params: readonly [string, string] }
  | { readonly rule: "floor_fits" | "shares"; readonly params: readonly [string] };

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
  readonly granularity: Granularity;
  readonly timing: Stage;
  score(batch: Batch, ctx: Context<z.output<S>>): Scores | Promise<Scores>;
}

/** The parameter, and what it must be above or below, with which no weight is 0. */
export interface Positive {
  readonly param: string;
  readonly above?: number;
  readonly below?: number;
}

export interface ReweighterDefinition<S extends z.ZodType, A extends Accepts = Accepts> extends Declared<S> {
  readonly accepts: A;
  /** Only where it reads fields later than its scorer's stage. */
  readonly timing?: Stage;
  /** Takes row scores as well as token scores: `accepts` is what the pipeline at hand gives it. */
  readonly adapts?: boolean;
  /** Its weights are as they should be: `normalize` is none unless the configuration says otherwise. */
  readonly self_normalized?: boolean;
  /** Token reweighters: when no token's weight is 0. Absent: one may be, which a loss with a geometric mean of weights cannot bear. */
  readonly positive?: Positive;
  /**
   * Row reweighters: `act` returns the natural logarithms of the raw weights (−∞ for weight 0). For weights that are exponentials or
   * powers: together they may lie below the smallest float, and their proportions would be lost.
   */
  readonly in_log_space?: A extends "row" ? boolean : never;
  /** Raw weights ≥ 0 of the same shape as `scores`, before normalisation. */
  act(scores: ScoresOf<A>, batch: Batch, ctx: Context<z.output<S>>): Scores | Promise<Scores>;
}

export interface SelectorDefinition<S extends z.ZodType, A extends Accepts = Accepts> extends Declared<S> {
  readonly accepts: A;
  /** Only where it reads fields later than its scorer's stage. */
  readonly timing?: Stage;
  /** Takes row scores as well as token scores: `accepts` is what the pipeline at hand gives it. */
  readonly adapts?: boolean;
  act(scores: ScoresOf<A>, batch: Batch, ctx: Context<z.output<S>>): Kept | Promise<Kept>;
  /**
   * What later steps will find of this one in `ctx.history`: names with finite numbers. Called with what `act` gets; a step that is
   * done again replaces its earlier entry. What is selected depends on which earlier steps were settled in time.
   */
  remember?(
    scores: ScoresOf<A>,
    batch: Batch,
    ctx: Context<z.output<S>>,
  ): readonly StateValue[] | Promise<readonly StateValue[]>;
  /** Steps that are remembered; the oldest is forgotten first. Default 1,000. */
  readonly remember_steps?: number;
}

/** A mixer turns the history of each domain's scores into the shares that the next prompts are drawn with. */
export interface MixerDefinition<S extends z.ZodType> extends Declared<S> {
  /** `none`: the proportions depend on nothing that was scored, and no domain needs to have been seen. */
  readonly scorer: "required" | "none";
  /** Scorer that is mounted where the configuration names none; any other is mounted with a warning. */
  readonly default_scorer?: string;
  /** Stage of a mixer that is mounted without scorer. Default post_reward, where the domain column rides along with the rewards. */
  readonly timing?: Stage;
  /** A parameter `floor` is its own affair: the framework does not apply it. */
  readonly floors_itself?: boolean;
  /**
   * The shares of `series.domains`, each ≥ 0, sum 1. Before the framework calls it, domains never seen are taken out (with `scorer:
   * "required"`): they keep their prior share. Parameters `floor` and `floor_mode`, where declared, are applied afterwards.
   * `ctx.step` is the step of the update, not of the batch.
   */
  propose(series: DomainSeries, ctx: Context<z.output<S>>): ArrayLike<number> | Promise<ArrayLike<number>>;
}

/** What a policy makes of the candidate prompts of a step; both parts are one entry a row of the candidates. */
export interface PromptChoice {
  /** 0 or false: the prompt is left out. Default: all are kept. */
  readonly keep?: ArrayLike<number | boolean>;
  /** Finite and ≥ 0: how much more often than another a prompt should be drawn. Left-out prompts get 0. */
  readonly weights?: ArrayLike<number>;
}

/**
 * A pre-rollout policy chooses prompts by what became of them before. `select` sees the candidates of a step (one row a prompt, column
 * `dataset_key`); `feed` summarises the same step's responses, once, for later steps.
 */
export interface PolicyDefinition<S extends z.ZodType> extends Declared<S> {
  /** Fields of the responses that `feed` reads; `dataset_key` is always there. */
  readonly feed_requires?: readonly (string | FieldNeed)[];
  /** Steps whose summaries are remembered; the oldest is forgotten first. Default 1,000. */
  readonly remember_steps?: number;
  /** What is remembered of one step: names (usually dataset keys) with finite numbers. */
  feed(batch: Batch, ctx: Context<z.output<S>>): readonly StateValue[];
  /** `requires` names what it reads of the candidates beside `dataset_key`. */
  select(history: PromptHistory, candidates: Batch, ctx: Context<z.output<S>>): PromptChoice;
}

/** What `define*` adds: the kind, the fields with their scopes, and every default filled in. */
interface Defined<K extends Kind> {
  readonly kind: K;
  readonly needs: readonly FieldNeed[];
  readonly needs_groups: boolean;
  readonly rows: Rows;
}

export type Scorer<S extends z.ZodType = z.ZodType> = Omit<ScorerDefinition<S>, "granularity"> &
  Defined<"scorer"> & { readonly granularity: Accepts };
export type Reweighter<S extends z.ZodType = z.ZodType, A extends Accepts = Accepts> = ReweighterDefinition<S, A> &
  Defined<"reweighter">;
export type Selector<S extends z.ZodType = z.ZodType, A extends Accepts = Accepts> = SelectorDefinition<S, A> &
  Defined<"selector">;
export type Mixer<S extends z.ZodType = z.ZodType> = MixerDefinition<S> & Defined<"mixer">;
export type Policy<S extends z.ZodType = z.ZodType> = PolicyDefinition<S> &
  Defined<"policy"> & { readonly feed_needs: readonly FieldNeed[] };
/** Components that work on the rows or tokens of one step alone. */
export type RowComponent = Scorer | Reweighter | Selector;
export type Component = RowComponent | Mixer | Policy;
export type ComponentKind = Component["kind"];
export type ComponentOf<K extends ComponentKind> = Extract<Component, { kind: K }>;
