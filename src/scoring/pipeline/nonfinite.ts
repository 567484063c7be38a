import { DataflexError } from "../../errors.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import type { Batch } from "../batch/batch.js";
import { NonFinite } from "../batch/signals.js";
import { Notes } from "./notes.js";

/** How many row numbers an error lists at most; its count covers all. */
const LISTED = 10;

/** `batch`: the one on which `body` succeeded; `dropped`: the rows that were removed to get there. */
export type Guarded<T> =
  | { readonly ok: true; readonly value: T; readonly batch: Batch; readonly dropped: readonly number[] }
  | { readonly ok: false };

/**
 * Runs `body` under the pipeline's `on_nonfinite`. `error`: the first bad value is thrown. `drop`: the rows with bad values leave the live set and `body`
 * runs again without them, since they may have affected their group or a normaliser. `neutral`: `{ok: false}`.
 * The notes of `body` count only for the run that succeeds.
 * @throws DataflexError NON_FINITE naming field or component, rows and column.
 */
export async function underNonFinitePolicy<T>(
  policy: PipelineSpec["on_nonfinite"],
  batch: Batch,
  notes: Notes,
  body: (batch: Batch, notes: Notes) => Promise<T>,
): Promise<Guarded<T>> {
  const dropped = new Set<number>();
  let current = batch;
  for (;;) {
    const own = new Notes();
    try {
      const value = await body(current, own);
      notes.absorb(own);
      return { ok: true, value, batch: current, dropped: [...dropped].sort((a, b) => a - b) };
    } catch (thrown) {
      if (!(thrown instanceof NonFinite)) throw thrown;
      const fresh = thrown.rows.filter((row) => !dropped.has(row));
      // Nothing new to drop: repeating would never end.
      if (policy === "error" || (policy === "drop" && fresh.length === 0)) throw nonFiniteError(thrown);
      if (policy === "neutral") {
        notes.flag("neutral_nonfinite");
        notes.warn(`${thrown.source} was not finite: the whole step gets neutral weights (on_nonfinite: neutral)`);
        return { ok: false };
      }
      for (const row of fresh) dropped.add(row);
      notes.count("rows_dropped_nonfinite", fresh.length);
      notes.warn(`${thrown.source} was not finite in some rows, which get weight 0 (on_nonfinite: drop)`);
      current = batch.without(dropped);
    }
  }
}

function nonFiniteError(found: NonFinite): DataflexError {
  const { rows, column, value, source } = found;
  const listed = rows.slice(0, LISTED).join(", ");
  const more = rows.length > LISTED ? ` and ${rows.length - LISTED} more` : "";
  const where = column === undefined ? `row ${rows[0]}` : `row ${rows[0]}, column ${column}`;
  return new DataflexError(
    "NON_FINITE",
    `${source} is ${value ?? "not finite"} at ${where} (rows with such values: ${listed}${more}); ` +
      `fix the trainer's signal, or set on_nonfinite to drop or neutral`,
    { source, row: rows[0], ...(column !== undefined && { column }), rows: rows.slice(0, 1000), count: rows.length },
  );
}
