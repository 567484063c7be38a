import { countRows } from "../columns/row-ranges.js";
import { DataflexError } from "../errors.js";
import { checkNames, checkRowOptions, checkTotal } from "./guard.js";
import { type KeyTable, keyTable, planKeys, planRange, type RowPlan, refuseDuplicates } from "./rows.js";
import type { PutOptions } from "./run-options.js";

export interface PutRows {
  readonly plan: RowPlan;
  readonly table: KeyTable | undefined;
  /** Rows of the whole step. */
  readonly total: number;
}

/**
 * Which rows of its step a put holds.
 *
 * @param fieldRows  rows of its fields: the put's, where neither keys nor a range say it
 * @param fixed  reads the keys that the first put of this step and stage named, if there was one
 * @throws DataflexError INVALID_INPUT
 */
export async function planRows(
  fieldRows: number,
  o: PutOptions,
  stage: string,
  maxRows: number,
  fixed: () => Promise<KeyTable | undefined>,
): Promise<PutRows> {
  if (o.keys !== undefined) checkNames(o.keys, "keys");
  const rows = o.keys?.length ?? (o.rows ? o.rows[1] - o.rows[0] : fieldRows);
  const total = checkTotal(o.total_rows ?? rows, maxRows);
  if (!o.keys) {
    const plan = planRange(o.rows, total);
    checkRowOptions(o, countRows(plan.ranges));
    return { plan, table: undefined, total };
  }
  checkRowOptions(o, rows);
  refuseDuplicates(o.keys);
  const table = await fixed();
  if (table) return { plan: planKeys(o.keys, table.keys), table, total: o.total_rows ?? table.keys.length };
  if (o.keys.length !== total) {
    throw new DataflexError(
      "INVALID_INPUT",
      `the first put of stage ${stage} with keys names all ${total} of them, this one ${o.keys.length}`,
      { total },
    );
  }
  return { plan: { ranges: total > 0 ? [0, total] : [] }, table: keyTable(o.keys), total };
}
