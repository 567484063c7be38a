import { defined } from "../../defined.js";
import type { Problem } from "../../protocol/mount-messages.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import { isRecord, propertiesOf, show } from "../config/describe.js";
import {
  MULTI_SCHEMA,
  PIPELINE_SCHEMA,
  pipelineOptions,
  RUN_SCHEMA,
  type RunOptions,
  runOptions,
  SINGLE_SCHEMA,
} from "../config/options.js";
import { boundProblems } from "../config/problems.js";
import { checkMapping, type Path, type Subject } from "../config/schema-check.js";
import type { Catalogue } from "./catalogue-entry.js";
import { checkInput } from "./check-input.js";
import { normalizeEstimator } from "./estimators.js";
import { estimatorRemarks } from "./group-rules.js";
import { checkStageKinds } from "./named-fields.js";
import type { MountInput, Resolution } from "./resolution.js";
import { resolvePipeline } from "./resolve-pipeline.js";
import { type Block, pick, salvage } from "./salvage.js";
import { applyTrainerRules, type RuledPart } from "./trainer-rules.js";
import { stageFields } from "./wanted-fields.js";

/** More pipelines would mean more metric series and composition passes than any use known. */
export const MAX_PIPELINES = 16;
/** The name of the pipeline of a block without `pipelines:`. */
const SINGLE_PIPELINE = "main";
/** Names become parts of Redis keys, job ids and metric labels; `_combined` and its like are the system's. */
const PIPELINE_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

const ROOT: Path = ["dataflex"];
const RUN_NAMES = Object.keys(propertiesOf(RUN_SCHEMA));
const PIPELINE_NAMES = Object.keys(propertiesOf(PIPELINE_SCHEMA));

/**
 * Checks a `dataflex:` block against what live workers registered and resolves it to what broker, worker and client need.
 * Pure. Returns every problem at once; paths begin with `dataflex`, whatever file the block came from.
 */
export function resolveMount(input: MountInput, catalogues: readonly Catalogue[]): Resolution {
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const notes: string[] = [];
  const { run, blocks } = readBlock(input.dataflex, catalogues, problems);
  const mount = checkInput(input, problems);
  checkClip(input.dataflex, problems);

  const pipelines: PipelineSpec[] = [];
  const parts: RuledPart[] = [];
  let anyGroups = false;
  for (const { name, path, options } of blocks) {
    const resolved = resolvePipeline({ name, path, options, mount, catalogues }, { problems, warnings, notes });
    anyGroups ||= resolved.needsGroups;
    parts.push(...resolved.parts);
    pipelines.push(...resolved.specs);
  }
  // Read from the block itself: another wrong option must not make this one look absent.
  const multiplies = isRecord(input.dataflex) && input.dataflex.i_know_it_multiplies === true;
  const ruled = applyTrainerRules({ trainer: mount.trainer, provides: input.provides, multiplies, parts });
  problems.push(...ruled.problems);
  warnings.push(...ruled.warnings);
  checkStageKinds(pipelines, problems);
  if (problems.length > 0 || run === undefined) return { ok: false, problems: boundProblems(problems) };

  const remarks = estimatorRemarks(input, anyGroups);
  if (pipelines.every((pipeline) => pipeline.shadow)) {
    warnings.push("every pipeline is a shadow: weights are computed and measured, none reaches the trainer");
  }
  return {
    ok: true,
    pipelines,
    stages: stageFields(pipelines),
    composition: { combine: run.combine, rescale: run.rescale, ...(run.clip === null ? {} : { clip: run.clip }) },
    max_wait_ms: run.max_wait_ms,
    on_unavailable: run.on_unavailable,
    run,
    ...(input.adv_estimator === undefined ? {} : { adv_estimator: normalizeEstimator(input.adv_estimator) }),
    warnings: [...new Set([...warnings, ...remarks.warnings])],
    notes: [...notes, ...remarks.notes],
  };
}

function readBlock(
  dataflex: unknown,
  catalogues: readonly Catalogue[],
  problems: Problem[],
): { run?: RunOptions; blocks: Block[] } {
  if (!isRecord(dataflex)) {
    const got = dataflex === undefined || dataflex === null ? "it is empty" : `got ${show(dataflex)}`;
    const suggestion =
      "for example  mechanism: reweight, scorer: {name: advantage_magnitude}, actuator: {name: softmax}";
    problems.push({ path: ROOT, message: `the dataflex block must be a mapping: ${got}`, suggestion });
    return { blocks: [] };
  }
  if (Object.hasOwn(dataflex, "pipelines")) return readMany(dataflex, catalogues, problems);
  const checked = checkMapping(SINGLE_SCHEMA, dataflex, ROOT, { owner: "the dataflex block", noun: "option" });
  if (!checked.ok) {
    problems.push(...checked.problems);
    return { blocks: salvage(SINGLE_PIPELINE, ROOT, dataflex, checked.problems, catalogues) };
  }
  const run = runOptions.parse(pick(checked.value, RUN_NAMES));
  const options = pipelineOptions.parse(pick(checked.value, PIPELINE_NAMES));
  return { run, blocks: [{ name: SINGLE_PIPELINE, path: ROOT, options }] };
}

function readMany(
  dataflex: Record<string, unknown>,
  catalogues: readonly Catalogue[],
  problems: Problem[],
): { run?: RunOptions; blocks: Block[] } {
  const elsewhere = (key: string) =>
    PIPELINE_NAMES.includes(key) ? `it belongs to a pipeline: move it to pipelines.<name>.${key}` : undefined;
  const checked = checkMapping(MULTI_SCHEMA, dataflex, ROOT, {
    owner: "the dataflex block",
    noun: "option",
    elsewhere,
  });
  if (!checked.ok) problems.push(...checked.problems);
  const run = checked.ok ? runOptions.parse(pick(checked.value, RUN_NAMES)) : undefined;
  const { pipelines } = dataflex;
  const path: Path = [...ROOT, "pipelines"];
  if (!isRecord(pipelines) || Object.keys(pipelines).length === 0) {
    problems.push({ path, message: `pipelines must map names to blocks, got ${show(pipelines)}` });
    return { blocks: [] };
  }
  const names = Object.keys(pipelines);
  if (names.length > MAX_PIPELINES) {
    problems.push({ path, message: `at most ${MAX_PIPELINES} pipelines a run, got ${names.length}` });
  }
  const blocks = names
    .slice(0, MAX_PIPELINES)
    .flatMap((name) => readPipeline(name, pipelines[name], [...path, name], catalogues, problems));
  return { ...defined({ run }), blocks };
}

function readPipeline(
  name: string,
  block: unknown,
  path: Path,
  catalogues: readonly Catalogue[],
  problems: Problem[],
): Block[] {
  if (!PIPELINE_NAME.test(name)) {
    const message = `pipeline name ${show(name)} must be 1 to 64 letters, digits, "_" or "-" and begin with a letter or digit`;
    problems.push({ path, message });
  }
  const subject: Subject = {
    owner: `pipeline "${name}"`,
    noun: "option",
    elsewhere: (key) => (RUN_NAMES.includes(key) ? `it belongs to the run: move it to dataflex.${key}` : undefined),
  };
  const checked = checkMapping(PIPELINE_SCHEMA, block, path, subject);
  if (checked.ok) return [{ name, path, options: pipelineOptions.parse(checked.value) }];
  problems.push(...checked.problems);
  return isRecord(block) ? salvage(name, path, block, checked.problems, catalogues) : [];
}

/** Read from the block itself: another wrong option must not hide this. */
function checkClip(dataflex: unknown, problems: Problem[]): void {
  const clip = isRecord(dataflex) ? dataflex.clip : undefined;
  if (!Array.isArray(clip) || clip.length !== 2 || clip.some((bound) => typeof bound !== "number")) return;
  if (clip.some((bound) => Number.isFinite(bound) && !Number.isFinite(Math.fround(bound)))) {
    problems.push({ path: [...ROOT, "clip"], message: `clip bounds must be float32 numbers, got ${show(clip)}` });
  }
  if (!(clip[0] > clip[1])) return;
  problems.push({ path: [...ROOT, "clip"], message: `clip must be [low, high] with low <= high, got ${show(clip)}` });
}
