import { DataflexError } from "../errors.js";
import { STAGES, type Stage } from "../protocol/stages.js";

/** A day, like `max_wait_ms`: timers hold no more than 24 of them, and a longer wait is a mistake in the unit. */
const MAX_TIMEOUT_MS = 86_400_000;

/**
 * Arguments are checked here before anything is sent: JavaScript callers have no types, and what Redis has accepted
 * can only be settled as a failure. All throw DataflexError INVALID_INPUT naming the option and the value.
 *
 * @param least 1 if an answer is needed, 0 if looking once is enough
 */
export function checkTimeout(ms: unknown, least: 0 | 1, name = "timeoutMs"): number {
  if (typeof ms === "number" && ms >= least && ms <= MAX_TIMEOUT_MS) return ms;
  return refuse(`${name} is ${shown(ms)}; it must be a number of ms from ${least} to ${MAX_TIMEOUT_MS} (a day)`, {
    option: name,
  });
}

/** A wait longer than the service's own would end early, with EXPIRED. */
export function checkWait(timeoutMs: number, maxWaitMs: number): void {
  if (timeoutMs <= maxWaitMs) return;
  refuse(
    `timeoutMs is ${timeoutMs}, above this run's max_wait_ms of ${maxWaitMs}, after which the service gives a step up: raise max_wait_ms in the dataflex block`,
    { option: "timeoutMs", max_wait_ms: maxWaitMs },
  );
}

export function checkStep(step: unknown): number {
  return whole("step", step);
}

export function checkTrigger(trigger: unknown): number {
  return whole("trigger", trigger);
}

export function checkStage(stage: unknown): Stage {
  if (stage === "in_loss") {
    refuse(
      "there is no stage in_loss: a weight inside the loss needs the current policy's gradients, which never travel",
      {
        stage,
      },
    );
  }
  if ((STAGES as readonly unknown[]).includes(stage)) return stage as Stage;
  return refuse(`stage is ${shown(stage)}; it must be one of ${STAGES.join(", ")}`, { stage });
}

/** `total_rows`. Also LIMIT. */
export function checkTotal(total: unknown, most: number): number {
  whole("total_rows", total);
  if ((total as number) <= most) return total as number;
  throw new DataflexError("LIMIT", `total_rows is ${total}; a step has at most ${most}`, { total });
}

/** A list of strings. */
export function checkNames(names: unknown, option: string): readonly string[] {
  if (!Array.isArray(names)) return refuse(`${option} is ${shown(names)}; it must be a list of strings`, { option });
  const at = Array.from(names).findIndex((name) => typeof name !== "string");
  if (at >= 0)
    refuse(`${option} is ${shown(names[at])} in row ${at}; it must be a list of strings`, { option, row: at });
  return names;
}

export function checkText(text: unknown, option: string): string {
  if (typeof text === "string" && text !== "") return text;
  return refuse(`${option} is ${shown(text)}; it must be a string that is not empty`, { option });
}

export function checkObject(value: unknown, what: string, example: string): void {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
  refuse(`${what} is ${shown(value)}; it must be an object such as ${example}`, {});
}

/**
 * `lengths`, `is_padding`, `rows` and `keys` of a put of `rows` rows: one entry a row, of the right kind. Checked here and not later, because
 * typed arrays would round a length, and any text would be a true flag.
 */
export function checkRowOptions(
  o: { lengths?: unknown; is_padding?: unknown; rows?: unknown; keys?: unknown },
  rows: number,
): void {
  if (o.keys !== undefined && o.rows !== undefined) refuse("a put names its rows by keys or by rows, not by both", {});
  perRow("lengths", o.lengths, rows, "a whole number of tokens", (x) => Number.isInteger(x) && x >= 0 && x < 2 ** 31);
  perRow("is_padding", o.is_padding, rows, "true or false", (x) => x === true || x === false || x === 0 || x === 1);
}

function perRow(option: string, list: unknown, rows: number, kind: string, right: (x: never) => boolean): void {
  if (list === undefined) return;
  const isList = Array.isArray(list) || (ArrayBuffer.isView(list) && !(list instanceof DataView));
  if (!isList) refuse(`${option} is ${shown(list)}; it must be a list with one entry a row`, { option });
  const values = list as unknown as ArrayLike<never>;
  if (values.length !== rows) {
    refuse(`${option} has ${values.length} entries for ${rows} rows; give one per row`, { option, expected: rows });
  }
  for (let row = 0; row < rows; row++) {
    if (!right(values[row]!)) refuse(`${option} is ${shown(values[row])} in row ${row}, not ${kind}`, { option, row });
  }
}

function whole(name: string, value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  return refuse(`${name} is ${shown(value)}; it must be a whole number ≥ 0`, { [name]: value });
}

/** A value on a short line. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 39)}…` : value);
  if (Array.isArray(value)) return "a list";
  if (typeof value === "function") return "a function";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

function refuse(message: string, details: Record<string, unknown>): never {
  throw new DataflexError("INVALID_INPUT", message, details);
}
