import { isFieldName, STRING_FIELDS } from "../../columns/field-names.js";
import { DEFAULT_LIMITS } from "../../columns/limits.js";
import type { Jagged, Tensor } from "../../columns/tensor.js";
import { defined } from "../../defined.js";
import { inputError } from "./input-error.js";
import { idText, NO_ID } from "./json-columns.js";
import { duplicateKey, parseLenientJson, quote, toNumber } from "./lenient-json.js";
import { isObject, stepNumber } from "./read-json.js";
import { assembleStep, type RecordedStep } from "./recorded-step.js";
import { readUids, type UidColumns } from "./verl-uid.js";

/** Before anything of that size is allocated. */
const MAX_TOKENS = DEFAULT_LIMITS.max_width;

const OWN_KEYS: readonly string[] = [
  ...STRING_FIELDS,
  ...["score", "response_length", "output", "input", "session_index", "is_padding", "step"],
];

/** One rollout as a line of the file gives it. */
interface Rollout {
  readonly line: number;
  readonly score: number;
  /** Response tokens; 0 for an empty answer. */
  readonly length: number;
  readonly record: Readonly<Record<string, unknown>>;
}

/**
 * Rollouts, one JSON object a line: `score`, `response_length` (or `output`, whose whitespace-separated words are counted),
 * optionally `uid`, `domain`, `session`, `session_index`, `dataset_key`, `is_padding`, `step`. Without `uid`, equal `input` makes a group. Every other
 * key that all lines have with a number is a field of one number a row; all else is ignored.
 *
 * The step gets `rm_scores` (the score on the last response token) and `response_mask` (ones; zeros in padding rows and
 * for answers of no tokens, which, as in verl, hold one masked token).
 *
 * @throws INVALID_INPUT naming the line
 */
export function readRollouts(file: string, text: string): RecordedStep {
  const rollouts: Rollout[] = [];
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() !== "") rollouts.push(readLine(file, line, i + 1));
  }
  if (rollouts.length === 0) throw inputError(file, "the file is empty; expected one rollout a line");
  const tokens = rollouts.reduce((sum, { length }) => sum + length, 0);
  if (tokens > DEFAULT_LIMITS.max_tokens)
    throw inputError(file, `its rollouts have ${tokens} tokens; a step has at most ${DEFAULT_LIMITS.max_tokens}`, {
      tokens,
    });
  const uids = stringsOf(file, rollouts, "uid") ?? inputsAsGroups(rollouts);
  const named: UidColumns | undefined = uids && readUids(uids);
  const padding = paddingOf(file, rollouts) ?? named?.is_padding;
  const session = stringsOf(file, rollouts, "session");
  // Sessions of the file's own come with indices of its own, or none.
  const index = indicesOf(file, rollouts) ?? (session === undefined ? named?.session_index : undefined);
  const domain = stringsOf(file, rollouts, "domain");
  const dataset_key = stringsOf(file, rollouts, "dataset_key");
  const step = stepOf(file, rollouts);
  return assembleStep(file, {
    fields: { ...ownFields(rollouts), ...tokenFields(rollouts, padding) },
    ...defined({
      uid: named?.uid,
      session: session ?? named?.session,
      session_index: index,
      domain,
      dataset_key,
      is_padding: padding,
      step,
    }),
  });
}

function readLine(file: string, text: string, line: number): Rollout {
  let record: unknown;
  try {
    record = parseLenientJson(text);
  } catch (cause) {
    throw inputError(file, `line ${line} is not JSON: ${(cause as Error).message}`, { line }, cause);
  }
  if (!isObject(record)) throw inputError(file, `line ${line} is ${quote(record)}, not an object`, { line });
  const twice = duplicateKey(text, 1);
  if (twice !== undefined)
    throw inputError(file, `line ${line}: the key ${quote(twice)} occurs twice: which of the two is meant?`, { line });
  if (record.score === undefined) throw inputError(file, `line ${line} has no "score"`, { line });
  const score = toNumber(record.score);
  if (score === undefined)
    throw inputError(file, `line ${line}: score is ${quote(record.score)}, not a number`, { line });
  if (Number.isFinite(score) && !Number.isFinite(Math.fround(score)))
    throw inputError(file, `line ${line}: score is ${quote(record.score)}, which float32 cannot hold`, { line });
  return { line, score, length: lengthOf(file, record, line), record };
}

function lengthOf(file: string, record: Record<string, unknown>, line: number): number {
  const { response_length: length, output } = record;
  if (length !== undefined && length !== null) {
    if (typeof length === "number" && Number.isInteger(length) && length >= 0 && length <= MAX_TOKENS) return length;
    const range = `a whole number of tokens up to ${MAX_TOKENS}`;
    throw inputError(file, `line ${line}: response_length is ${quote(length)}, not ${range}`, { line });
  }
  if (typeof output === "string") return output.split(/\s+/).filter((word) => word !== "").length;
  if (output === undefined) throw inputError(file, `line ${line} has neither "response_length" nor "output"`, { line });
  throw inputError(file, `line ${line}: output is ${quote(output)}, not a string`, { line });
}

/** A string column that all lines have, or none. */
function stringsOf(file: string, rollouts: readonly Rollout[], key: string): string[] | undefined {
  if (rollouts.every(({ record }) => record[key] === undefined || record[key] === null)) return undefined;
  return rollouts.map(({ record, line }) => {
    const value = record[key];
    const text = idText(value);
    if (text !== undefined) return text;
    const what =
      value === undefined ? `has no "${key}", which other lines have` : `: ${key} is ${quote(value)}, ${NO_ID}`;
    throw inputError(file, `line ${line}${what.startsWith(":") ? "" : " "}${what}`, { line, field: key });
  });
}

/** Rollouts of the same prompt are a group, named by the number of its first row, since prompts are long. */
function inputsAsGroups(rollouts: readonly Rollout[]): string[] | undefined {
  const names = new Map<string, string>();
  const groups: string[] = [];
  for (const [row, { record }] of rollouts.entries()) {
    if (typeof record.input !== "string") return undefined;
    const name = names.get(record.input) ?? `input-${row}`;
    names.set(record.input, name);
    groups.push(name);
  }
  return groups;
}

function paddingOf(file: string, rollouts: readonly Rollout[]): Uint8Array | undefined {
  if (rollouts.every(({ record }) => record.is_padding === undefined)) return undefined;
  return Uint8Array.from(rollouts, ({ record, line }) => {
    const flag = toNumber(record.is_padding ?? false);
    if (flag === 0 || flag === 1) return flag;
    throw inputError(file, `line ${line}: is_padding is ${quote(record.is_padding)}, neither true nor false`, { line });
  });
}

function indicesOf(file: string, rollouts: readonly Rollout[]): Int32Array | undefined {
  if (rollouts.every(({ record }) => record.session_index === undefined)) return undefined;
  return Int32Array.from(rollouts, ({ record: { session_index: index }, line }) => {
    if (typeof index === "number" && Number.isInteger(index) && index >= 0 && index < 2 ** 31) return index;
    throw inputError(file, `line ${line}: session_index is ${quote(index)}, not an index (whole, from 0)`, { line });
  });
}

function stepOf(file: string, rollouts: readonly Rollout[]): number | undefined {
  const [first] = rollouts;
  for (const { record, line } of rollouts) {
    if (record.step !== first?.record.step) {
      throw inputError(
        file,
        `line ${line} is of step ${quote(record.step)}, line ${first?.line} of step ${quote(first?.record.step)}; replay takes one step`,
        { line },
      );
    }
  }
  return first?.record.step === undefined ? undefined : stepNumber(file, first.record.step);
}

/** What a line says beside its own keys, where all lines give a number for it: one number per row, under the key's name. */
function ownFields(rollouts: readonly Rollout[]): Record<string, Tensor> {
  const names = Object.keys(rollouts[0]!.record).filter((name) => !OWN_KEYS.includes(name) && isFieldName(name));
  const fields: Record<string, Tensor> = {};
  for (const name of names) {
    const values = rollouts.map(({ record }) => (Object.hasOwn(record, name) ? toNumber(record[name]) : undefined));
    if (values.some((value) => value === undefined)) continue;
    fields[name] = {
      kind: "tensor",
      dtype: "f64",
      shape: [values.length],
      data: Float64Array.from(values as number[]),
    };
  }
  return fields;
}

function tokenFields(rollouts: readonly Rollout[], padding: Uint8Array | undefined): Record<string, Jagged> {
  const lengths = Int32Array.from(rollouts, ({ length }) => Math.max(1, length));
  const width = lengths.reduce((a, b) => Math.max(a, b), 0);
  const tokens = lengths.reduce((sum, length) => sum + length, 0);
  const rewards = new Float32Array(tokens);
  const mask = new Uint8Array(tokens).fill(1);
  let end = 0;
  for (const [row, { score, length }] of rollouts.entries()) {
    const start = end;
    end += lengths[row]!;
    rewards[end - 1] = score;
    if (length === 0 || padding?.[row] === 1) mask.fill(0, start, end);
  }
  return {
    rm_scores: { kind: "jagged", dtype: "f32", lengths, width, data: rewards },
    response_mask: { kind: "jagged", dtype: "u8", lengths, width, data: mask },
  };
}
