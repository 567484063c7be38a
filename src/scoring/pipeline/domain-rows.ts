import { DataflexError } from "../../errors.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import type { Batch } from "../batch/batch.js";

/**
 * Which of the pipeline's domains each row belongs to, `(rows,)`; −1 for rows that only fill up the batch.
 * @throws DataflexError INVALID_INPUT naming row and domain when a domain is not in the configuration: its rows would count nowhere.
 */
export function domainRows(spec: PipelineSpec, batch: Batch): Int32Array {
  const domains = spec.domains ?? [];
  const column = spec.domain_key ?? "domain";
  const index = new Map(domains.map((name, d) => [name, d]));
  const names = batch.strings(column);
  return Int32Array.from(names, (name, row) => {
    if (batch.frame.real[row] !== 1) return -1;
    const d = index.get(name);
    if (d !== undefined) return d;
    throw new DataflexError(
      "INVALID_INPUT",
      `row ${row}: domain "${name}" (column ${column}) is not among the domains of pipeline "${spec.name}" ` +
        `(${domains.join(", ")}); add it there, or fix the column`,
      { row, domain: name, column, domains },
    );
  });
}
