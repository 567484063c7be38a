import type { z } from "zod";
import type { FieldKind } from "../../columns/field-kinds.js";
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

/** Whether there is a score per row, `(rows,)`, or per token, `(rows, L)`. An actuator takes scores of one or the other. */
export type Accepts = "row" | "token";

/** As a scorer may declare it: `prompt` and `response` also mean one score per row (a group's score is spread back to its rows). */
export type Granularity = Accepts | "prompt" | "response";

/** Which rows a component must see together: each row alone, whole groups, or the whole step. The default is `batch`. */
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

/** The documentation of a component: what `components NAME` prints. All of it is optional for custom components. */
export interface ComponentDoc {
  /** One line in plain words. */
  readonly summary?: string;
  readonly formula?: string;
  /** Actuators: which score the formula is meant for, by the names of scorers that give it. */
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
  /** Warns the user. Equal texts are kept once, over all shards: put numbers into `count`, not into the text. */
  warn(message: string): void;
  /** Adds to a metric of the step. The amounts of shards are added, so only counts and sums make sense here. */
  count(metric: string, amount: number): void;
}

/**
 * What `score` and a reweighter's `act` may return. One number per row: a RowVector, an array of length rows, or a tensor
 * `(rows,)`. Token-shaped: a TokenField, a tensor `(rows, L)`, or a flat array of length rows × L.
 */
export type Scores = RowVector | TokenField | TensorLike | ArrayLike<number>;

/** What a selector's `act` may return: kept row indices, a 0/1 RowVector, or for `token` a 0/1 TokenField or tensor. */
export type Kept = ArrayLike<number> | RowVector | TokenField | TensorLike;

/** The scores as an actuator sees them. */
export type ScoresOf<A extends Accepts> = A extends "token" ? TokenField : RowVector;

/**
 * What a JSON Schema cannot say about parameters, as data: a closed list, so that a process without the component's code can
 * check it. `less`: the first parameter is below the second; `at_most`: not above it. Applies if both are numbers. For mixers:
 * `floor_fits`: at most 1 / number of domains; `shares`: one number ≥ 0 per domain, with a sum above 0.
 */
export type Rule =
  | { readonly rule: "less" | "at_most"; readonly params: readonly [string, string] }
  | { readonly rule: "floor_fits" | "shares"; readonly params: readonly [string] };

interface Declared<S extends z.ZodType> {
  /** `[a-z][a-z0-9_]*`, unique within its kind. */
  readonly name: string;
  /**
   * Fields it reads. A bare name means the field's usual scope (`fieldNeed` in needs.ts): `response` for rewards and the mask
   * itself, none for the string fields `uid`, `domain`, `session`, `dataset_key`, `mask` for every other token matrix.
   */
  readonly requires?: readonly (string | FieldNeed)[];
  readonly needs_groups?: boolean;
  readonly rows?: Rows;
  /** A `z.strictObject`, so that a misspelt parameter is refused. */
  readonly params: S;
  /** Constraints between parameters; checked at mount. */
  readonly rules?: readonly Rule[];
  readonly doc?: ComponentDoc;
}

/** A field that is read because a parameter names it. */
export interface NamedNeed {
  readonly param: string;
  readonly kind: FieldKind;
}

export interface ScorerDefinition<S extends z.ZodType> extends Declared<S> {
  readonly granularity: Granularity;
  readonly timing: Stage;
  /** Fields beside `requires` whose names are parameters. */
  readonly requires_named?: readonly NamedNeed[];
  /** A parameter that names the stage, or is null: where verl has the named fields, post_reward for others. `timing` is where nobody says. */
  readonly timing_param?: string;
  score(batch: Batch, ctx: Context<z.output<S>>): Scores | Promise<Scores>;
}

/** The parameter, and the bound it must be above or below so that no weight is 0. */
export interface Positive {
  readonly param: string;
  readonly above?: number;
  readonly below?: number;
}

export interface ReweighterDefinition<S extends z.ZodType, A extends Accepts = Accepts> extends Declared<S> {
  readonly accepts: A;
  /** Only if it reads fields that appear after its scorer's stage. */
  readonly timing?: Stage;
  /** Takes row scores as well as token scores: `accepts` is what the pipeline in question gives it. */
  readonly adapts?: boolean;
  /** Its weights need no normalisation: `normalize` is none unless the configuration says otherwise. */
  readonly self_normalized?: boolean;
  /** Token reweighters: the condition under which no token's weight is 0. Absent: one may be 0, which no loss with a geometric mean of weights tolerates. */
  readonly positive?: Positive;
  /**
   * Row reweighters: `act` returns the natural logarithms of the raw weights (−∞ for weight 0). For weights that are exponentials or
   * powers: all of them may be below the smallest float, and their proportions would be lost.
   */
  readonly in_log_space?: A extends "row" ? boolean : never;
  /** Raw weights ≥ 0 of the same shape as `scores`, before normalisation. */
  act(scores: ScoresOf<A>, batch: Batch, ctx: Context<z.output<S>>): Scores | Promise<Scores>;
}

export interface SelectorDefinition<S extends z.ZodType, A extends Accepts = Accepts> extends Declared<S> {
  readonly accepts: A;
  /** Only if it reads fields that appear after its scorer's stage. */
  readonly timing?: Stage;
  /** Takes row scores as well as token scores: `accepts` is what the pipeline in question gives it. */
  readonly adapts?: boolean;
  act(scores: ScoresOf<A>, batch: Batch, ctx: Context<z.output<S>>): Kept | Promise<Kept>;
  /**
   * What later steps will find of this one in `ctx.history`: names with finite numbers. Called with the arguments of `act`; a step that is
   * repeated replaces its earlier entry. What is selected depends on which earlier steps were settled in time.
   */
  remember?(
    scores: ScoresOf<A>,
    batch: Batch,
    ctx: Context<z.output<S>>,
  ): readonly StateValue[] | Promise<readonly StateValue[]>;
  /** Steps that are remembered; the oldest is forgotten first. Default 1,000. */
  readonly remember_steps?: number;
}

/** A mixer turns the history of each domain's scores into the shares with which the next prompts are drawn. */
export interface MixerDefinition<S extends z.ZodType> extends Declared<S> {
  /** `none`: the proportions do not depend on scores, and no domain needs to have been seen. */
  readonly scorer: "required" | "none";
  /** The scorer to mount if the configuration names none; mounting any other causes a warning. */
  readonly default_scorer?: string;
  /** Stage of a mixer that is mounted without scorer. Default post_reward, where the domain column comes with the rewards. */
  readonly timing?: Stage;
  /** It applies its parameter `floor` itself: the framework does not. */
  readonly floors_itself?: boolean;
  /**
   * The shares of `series.domains`, each ≥ 0, sum 1. Before the framework calls it, domains never seen are taken out (with `scorer:
   * "required"`): they keep their prior share. Parameters `floor` and `floor_mode`, where declared, are applied afterwards.
   * `ctx.step` is the step of the update, not of the batch.
   */
  propose(series: DomainSeries, ctx: Context<z.output<S>>): ArrayLike<number> | Promise<ArrayLike<number>>;
}

/** A policy's choice among the candidate prompts of a step; both parts have one entry per candidate. */
export interface PromptChoice {
  /** 0 or false: the prompt is left out. Default: all are kept. */
  readonly keep?: ArrayLike<number | boolean>;
  /** Finite and ≥ 0: relative frequency with which a prompt should be drawn. Prompts that are left out get 0. */
  readonly weights?: ArrayLike<number>;
}

/**
 * A pre-rollout policy chooses prompts by how they did in earlier steps. `select` sees the candidates of a step (one row a prompt, column
 * `dataset_key`); `feed` summarises the same step's responses, once, for later steps.
 */
export interface PolicyDefinition<S extends z.ZodType> extends Declared<S> {
  /** Fields of the responses that `feed` reads; `dataset_key` is always there. */
  readonly feed_requires?: readonly (string | FieldNeed)[];
  /** Steps whose summaries are remembered; the oldest is forgotten first. Default 1,000. */
  readonly remember_steps?: number;
  /** What to remember of one step: names (usually dataset keys) with finite numbers. */
  feed(batch: Batch, ctx: Context<z.output<S>>): readonly StateValue[];
  /** `requires` names the fields of the candidates that it reads besides `dataset_key`. */
  select(history: PromptHistory, candidates: Batch, ctx: Context<z.output<S>>): PromptChoice;
}

/** A component as `define*` returns it: with its kind, its fields with their scopes, and all defaults filled in. */
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
/** Components that work only on the rows or tokens of one step. */
export type RowComponent = Scorer | Reweighter | Selector;
export type Component = RowComponent | Mixer | Policy;
export type ComponentKind = Component["kind"];
export type ComponentOf<K extends ComponentKind> = Extract<Component, { kind: K }>;
