import { countRows, toBitmap } from "../columns/row-ranges.js";
import { DataflexError } from "../errors.js";
import { errorOf } from "../sentences.js";
import { checkNames, checkRowOptions, checkTotal } from "./guard.js";
import { type KeyTable, keyTable, planKeys, planRange, type RowPlan, refuseDuplicates } from "./rows.js";
import type { PutOptions } from "./run-options.js";

/** What earlier puts of the step have fixed. */
export interface FixedRows {
  /** Keys of all rows, if the first put named them. */
  readonly table?: KeyTable;
  /** Rows of the put's stage, as ranges of the table. */
  readonly span?: readonly number[];
}

export interface PutRows {
  readonly plan: RowPlan;
  readonly table: KeyTable | undefined;
  /** Rows of the table. */
  readonly total: number;
  /** Bitmap of the stage's rows, if this put fixes them as a part of the table. */
  readonly span: Uint8Array | undefined;
}

/**
 * Which rows of its step a put holds.
 *
 * @param fieldRows  number of rows of its fields: the put's, if neither keys nor a range say otherwise
 * @param fixed  reads what earlier puts have fixed; only puts with keys need it
 * @throws DataflexError INVALID_INPUT, ROWS_CONFLICT, LIMIT
 */
export async function planRows(
  fieldRows: number,
  o: PutOptions,
  stage: string,
  maxRows: number,
  fixed: () => Promise<FixedRows>,
): Promise<PutRows> {
  if (o.keys !== undefined) checkNames(o.keys, "keys");
  const rows = o.keys?.length ?? (o.rows ? o.rows[1] - o.rows[0] : fieldRows);
  const total = checkTotal(o.total_rows ?? rows, maxRows);
  if (!o.keys) {
    const plan = planRange(o.rows, total);
    checkRowOptions(o, countRows(plan.ranges));
    return { plan, table: undefined, total, span: undefined };
  }
  checkRowOptions(o, rows);
  refuseDuplicates(o.keys);
  const known = await fixed();
  const table = known.table ?? keyTable(o.keys);
  if (!known.table && rows !== total) throw notAllRows(stage, total, rows);
  const plan = planKeys(o.keys, table.keys);
  const all = table.keys.length;
  if (known.span) checkStageTotal(o, stage, countRows(known.span), all);
  // The first put of a stage fixes the stage's rows, unless it says that the whole table is still to come.
  const isPart = !known.span && rows < all && o.total_rows !== all;
  if (isPart && rows !== total) throw notAllRows(stage, total, rows);
  return { plan, table, total: all, span: isPart ? toBitmap(plan.ranges, all) : undefined };
}

function checkStageTotal(o: PutOptions, stage: string, rows: number, all: number): void {
  if (o.total_rows === undefined || o.total_rows === rows || o.total_rows === all) return;
  throw errorOf("ROWS_CONFLICT.stage_total", { total_rows: o.total_rows, stage, rows, all });
}

function notAllRows(stage: string, total: number, rows: number): DataflexError {
  return new DataflexError(
    "INVALID_INPUT",
    `the first put of stage ${stage} with keys must name all ${total} of them, this one names ${rows}`,
    { total },
  );
}
