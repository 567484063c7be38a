import { z } from "zod";
import { DataflexError } from "../../errors.js";
import type { FieldNeed } from "../../protocol/pipeline-spec.js";
import type { StateValue } from "../../protocol/saved-state.js";
import type { Stage } from "../../protocol/stages.js";
import type { Batch } from "../batch/batch.js";
import type { RowVector } from "../batch/row-vector.js";
import type { TokenField } from "../batch/token-field.js";
import type { DomainSeries } from "../mix/series.js";
import type { Accepts, Component, Context, Granularity, Kept, Rows, Scores } from "./component-types.js";
import { defineMixer, defineReweighter, defineScorer, defineSelector } from "./define.js";
import type { ForeignComponent } from "./load-plugins.js";

/** A parameter of a component that runs in another process, as that process declares it. */
interface ForeignParam {
  readonly name: string;
  readonly type: "boolean" | "integer" | "number" | "string" | "array" | "object" | "any";
  readonly required: boolean;
  readonly default?: unknown;
  readonly nullable: boolean;
  readonly choices?: readonly (string | number | boolean | null)[];
}

/** A component that runs in another process, as that process declares it. */
export interface ForeignDeclaration {
  readonly kind: "scorer" | "reweighter" | "selector" | "mixer";
  readonly name: string;
  /** `own`: written for this framework. `original`: written for DataFlex-RL, whose classes do more themselves. */
  readonly form: "own" | "original";
  readonly file: string;
  /** Hash of the implementation: two of one name with different hashes are different components. */
  readonly source: string;
  readonly params: readonly ForeignParam[];
  readonly requires: readonly (string | FieldNeed)[];
  readonly timing?: Stage;
  readonly granularity?: Granularity;
  /** Absent: any shape that the scorer gives. */
  readonly accepts?: Accepts;
  readonly needs_groups: boolean;
  readonly rows: Rows;
  readonly scorer?: "required" | "none";
  readonly remembers: boolean;
  /** A reweighter whose weights need no normalisation: `normalize` is none unless the configuration says otherwise. */
  readonly self_normalized: boolean;
  /** A reweighter of rows that gives the logarithms of its weights. */
  readonly in_log_space: boolean;
  readonly summary: string;
}

/** Runs a component in its own process. */
export interface ForeignCall {
  score(declared: ForeignDeclaration, batch: Batch, ctx: Context<unknown>): Promise<Scores>;
  act(
    declared: ForeignDeclaration,
    scores: RowVector | TokenField,
    batch: Batch,
    ctx: Context<unknown>,
  ): Promise<Scores & Kept>;
  remember(
    declared: ForeignDeclaration,
    scores: RowVector | TokenField,
    batch: Batch,
    ctx: Context<unknown>,
  ): Promise<readonly StateValue[]>;
  propose(declared: ForeignDeclaration, series: DomainSeries, ctx: Context<unknown>): Promise<ArrayLike<number>>;
}

/** For a catalogue: a component that is only described is never called. */
const NOT_HERE: ForeignCall = {
  score: () => Promise.reject(notHere()),
  act: () => Promise.reject(notHere()),
  remember: () => Promise.reject(notHere()),
  propose: () => Promise.reject(notHere()),
};

function notHere(): DataflexError {
  return new DataflexError("INTERNAL", "a component was called where it is only described");
}

/** Declared components, each with its file. `accepts` as for `foreignComponent`. */
export function foreignComponents(
  declared: readonly ForeignDeclaration[],
  call: ForeignCall = NOT_HERE,
  accepts: Accepts = "row",
): ForeignComponent[] {
  return declared.map((one) => ({
    component: foreignComponent(one, call, accepts),
    file: one.file,
    source: one.source,
  }));
}

/**
 * A component like any other, whose functions run elsewhere.
 * @param accepts shape of the scores, for an actuator that takes either.
 * @throws DataflexError COMPONENT when the declaration itself is wrong.
 */
function foreignComponent(declared: ForeignDeclaration, call: ForeignCall, accepts: Accepts = "row"): Component {
  const { name, requires, needs_groups, rows, timing } = declared;
  const common = {
    name,
    requires,
    needs_groups,
    rows,
    params: paramsSchema(declared.params),
    ...(declared.summary === "" ? {} : { doc: { summary: declared.summary } }),
  };
  const act = (scores: RowVector | TokenField, batch: Batch, ctx: Context<unknown>) =>
    call.act(declared, scores, batch, ctx);
  switch (declared.kind) {
    case "scorer":
      return defineScorer({
        ...common,
        granularity: declared.granularity ?? "row",
        timing: timing ?? "post_advantage",
        score: (batch, ctx) => call.score(declared, batch, ctx),
      });
    case "reweighter":
      return defineReweighter({
        ...common,
        ...(timing && { timing }),
        accepts: declared.accepts ?? accepts,
        adapts: declared.accepts === undefined,
        self_normalized: declared.self_normalized,
        ...(declared.in_log_space && { in_log_space: true }),
        act,
      });
    case "selector":
      return defineSelector({
        ...common,
        ...(timing && { timing }),
        accepts: declared.accepts ?? accepts,
        adapts: declared.accepts === undefined,
        act,
        ...(declared.remembers && {
          remember: (scores: RowVector | TokenField, batch: Batch, ctx: Context<unknown>) =>
            call.remember(declared, scores, batch, ctx),
        }),
      });
    case "mixer":
      return defineMixer({
        ...common,
        scorer: declared.scorer ?? "required",
        floors_itself: declared.form === "original",
        propose: (series, ctx) => call.propose(declared, series, ctx),
      });
  }
}

/** A parameter's values and default; a misspelt parameter is refused, as everywhere. */
function paramsSchema(params: readonly ForeignParam[]): z.ZodType {
  const shape = Object.fromEntries(params.map((param) => [param.name, paramSchema(param)]));
  return z.strictObject(shape);
}

function paramSchema(param: ForeignParam): z.ZodType {
  const plain = param.choices?.length ? z.literal([...param.choices]) : TYPES[param.type]();
  const value = param.nullable ? plain.nullable() : plain;
  return param.required ? value : value.default(param.default as never);
}

const TYPES: Readonly<Record<ForeignParam["type"], () => z.ZodType>> = {
  boolean: () => z.boolean(),
  integer: () => z.int(),
  number: () => z.number(),
  string: () => z.string(),
  array: () => z.array(z.unknown()),
  object: () => z.record(z.string(), z.unknown()),
  any: () => z.unknown(),
};
