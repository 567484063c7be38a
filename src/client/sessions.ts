import { SESSION_COLUMNS } from "../columns/field-names.js";
import { toFieldValue } from "../columns/input.js";
import { sameIndexTwice, toSessionIndex } from "../columns/session-index.js";
import type { FieldValue } from "../columns/tensor.js";
import type { FieldNeed } from "../protocol/pipeline-spec.js";
import { errorOf } from "../sentences.js";
import { asWanted } from "./as-wanted.js";
import { checkForm } from "./form.js";

/**
 * `session` and `session_index` as they ride along with a put: wherever the stage wants `uid`, with the put that brings it.
 *
 * @param given what the trainer handed over; @param needs what the stage wants
 * @throws DataflexError INVALID_INPUT: an index without a session, either without `uid`, a value that is no index
 */
export function ridingSessions(
  given: Readonly<Record<string, unknown>>,
  needs: readonly FieldNeed[],
): Readonly<Record<string, FieldValue>> {
  const names = SESSION_COLUMNS.filter((name) => Object.hasOwn(given, name) && given[name] !== undefined);
  if (names.length === 0 || !needs.some(({ name }) => name === "uid")) return {};
  if (!names.includes("session")) throw errorOf("INVALID_INPUT.index_alone", {});
  if (!Object.hasOwn(given, "uid")) throw errorOf("INVALID_INPUT.session_alone", {});
  const values: Record<string, FieldValue> = { session: asWanted({ name: "session" }, given.session) };
  if (names.includes("session_index")) {
    const value = toFieldValue("session_index", given.session_index);
    const index = toSessionIndex(value);
    if ("badRow" in index) throw errorOf("INVALID_INPUT.index_value", { row: index.badRow });
    values.session_index = index;
  }
  return values;
}

/** @throws DataflexError INVALID_INPUT: another number of rows, no strings, two rows of one session with the same index */
export function checkSessions(
  { uid, session, session_index: index }: Readonly<Record<string, FieldValue>>,
  rows: number,
  padding: ArrayLike<unknown> | undefined,
): void {
  checkForm({ ...(session && { session }), ...(index && { session_index: index }) }, NEEDS, rows);
  if (uid?.kind !== "strings" || session?.kind !== "strings" || index?.kind !== "tensor") return;
  const twice = sameIndexTwice(uid.values, session.values, index.data as Int32Array, padding);
  if (!twice) return;
  const [first, row] = twice;
  const facts = { first, row, uid: uid.values[row]!, session: session.values[row]!, index: Number(index.data[row]) };
  throw errorOf("INVALID_INPUT.index_twice", facts);
}

const NEEDS: readonly FieldNeed[] = SESSION_COLUMNS.map((name) => ({ name }));
