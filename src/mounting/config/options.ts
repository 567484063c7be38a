import { z } from "zod";
import { MECHANISMS } from "../../protocol/pipeline-spec.js";
import { describe, type JsonSchema, propertiesOf } from "./describe.js";

/**
 * Every option of the `dataflex:` block, in one place: type, range, default, unit, meaning. `config/default.yaml`, the
 * configuration page and all messages are derived from or compared with it. `null` always means "unset".
 */
const unset = <S extends z.ZodType>(schema: S) => schema.nullable().default(null);

/** A component by name. `fingerprint` is needed only if two live catalogues define the name differently. */
const component = z.strictObject({
  name: z.string().min(1).meta({ description: "registered name" }),
  params: z.unknown().optional().meta({ description: "parameters of the component" }),
  fingerprint: unset(z.string().min(1)).meta({ description: "catalogue that is meant, where several define the name" }),
});

export const pipelineOptions = z.strictObject({
  mechanism: z
    .enum(MECHANISMS)
    .meta({ description: "what the scores do: reweight the loss, select rows, mix domains" }),
  scorer: unset(component).meta({
    description:
      "turns a signal into scores: {name, params}; mixers bring their own where none is named, policies take none",
  }),
  actuator: component.meta({ description: "turns scores into weights, kept rows or proportions: {name, params}" }),
  warmup_step: z.int().min(0).default(0).meta({
    unit: "steps",
    description: "before this step weights are neutral, proportions the prior",
  }),
  update_step: z
    .int()
    .min(1)
    .default(1)
    .meta({ unit: "steps", description: "mix only: proportions change every so many steps" }),
  window: z
    .int()
    .min(1)
    .default(50)
    .meta({ unit: "steps", description: "mix only: steps with rows of a domain that its mean and slope look back" }),
  domains: unset(z.array(z.string().min(1)).min(1)).meta({ description: "mix only: the domains, in order" }),
  prior: unset(z.array(z.number().min(0)).min(1)).meta({
    description: "mix only: shares of the domains before any data, in their order; unset: equal shares",
  }),
  domain_key: z
    .string()
    .min(1)
    .default("domain")
    .meta({ description: "mix only: dataset column that names a row's domain" }),
  normalize: unset(z.enum(["none", "row", "token", "auto"])).meta({
    description: "reweight only: mean of the weights made one over rows or tokens; unset: by the shape of the weights",
  }),
  on_nonfinite: z.enum(["error", "drop", "neutral"]).default("error").meta({
    description: "NaN or infinity: refuse with row and column, drop the row, or weight 1 for the whole step",
  }),
  on_empty: z.enum(["drop_all", "keep_all", "error"]).default("drop_all").meta({
    description: "select only: what happens when no row is kept",
  }),
  keep_when_short: unset(z.int().min(1)).meta({
    unit: "rows",
    description:
      "select only: least rows to keep (a policy: prompts); with fewer, rejected ones stay after all, the last first, whole groups where groups are judged",
  }),
  on_incomplete_group: z.enum(["error", "score"]).default("error").meta({
    description: "a group with fewer rows than the known group size: refuse or score what is there",
  }),
  shadow: z.boolean().default(false).meta({ description: "computed and measured, never delivered" }),
});

export const runOptions = z.strictObject({
  combine: z.enum(["multiply", "replace"]).default("multiply").meta({
    description: "with weights that the trainer already has: multiply them or take their place",
  }),
  clip: unset(z.tuple([z.number().min(0), z.number().min(0)])).meta({
    description: "[low, high] for composed weights above 0",
  }),
  rescale: z.enum(["none", "row", "token"]).default("none").meta({
    description: "mean of the composed weights made one over live rows or tokens",
  }),
  max_wait_ms: z
    .int()
    .min(1)
    .max(86_400_000)
    .default(300_000)
    .meta({ unit: "ms", description: "how long a trainer waits for weights" }),
  on_unavailable: z.enum(["error", "neutral"]).default("error").meta({
    description: "no weights in time: stop with a diagnosis, or train on without weights and say so",
  }),
  i_know_it_multiplies: z.boolean().default(false).meta({
    description: "the trainer's policy loss is your own and multiplies rollout_is_weights in",
  }),
  redis_url: unset(z.string().min(1)).meta({ description: "address of Redis; unset: DFX_REDIS_URL, then REDIS_URL" }),
  run_id: unset(z.string().min(1).max(256)).meta({ description: "name of the run; unset: project/experiment" }),
  record: unset(z.string().min(1)).meta({ description: "folder that receives every step for replay; unset: none" }),
});

export type PipelineOptions = z.output<typeof pipelineOptions>;
export type RunOptions = z.output<typeof runOptions>;
export type ComponentOption = z.output<typeof component>;

const toJson = (schema: z.ZodType): JsonSchema => z.toJSONSchema(schema, { io: "input" }) as JsonSchema;

export const PIPELINE_SCHEMA: JsonSchema = toJson(pipelineOptions);
export const RUN_SCHEMA: JsonSchema = toJson(runOptions);
/** A block that is one pipeline and the run's options at once. */
export const SINGLE_SCHEMA: JsonSchema = toJson(z.strictObject({ ...pipelineOptions.shape, ...runOptions.shape }));
/** A block of several pipelines; what stands inside `pipelines` is checked one by one. */
export const MULTI_SCHEMA: JsonSchema = toJson(z.strictObject({ pipelines: z.unknown(), ...runOptions.shape }));

export interface OptionInfo {
  readonly level: "run" | "pipeline";
  readonly name: string;
  /** Allowed values in words. */
  readonly values: string;
  /** Absent: required. */
  readonly fallback?: unknown;
  readonly unit?: string;
  readonly meaning: string;
}

/** All options as a table, run level first. */
export function listOptions(): OptionInfo[] {
  return [...rowsOf("run", RUN_SCHEMA), ...rowsOf("pipeline", PIPELINE_SCHEMA)];
}

function rowsOf(level: OptionInfo["level"], schema: JsonSchema): OptionInfo[] {
  return Object.entries(propertiesOf(schema)).map(([name, property]) => ({
    level,
    name,
    values: describe(property),
    ...("default" in property ? { fallback: property.default } : {}),
    ...(typeof property.unit === "string" ? { unit: property.unit } : {}),
    meaning: String(property.description ?? ""),
  }));
}
