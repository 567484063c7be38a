import { DataflexError } from "../../errors.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import type { Batch } from "../batch/batch.js";
import type { Notes } from "./notes.js";

/**
 * Checks that groups have their size, if it is known. It counts the rows that arrived (a session with several rows counts
 * once), masked or not: a response whose tokens were all rejected did arrive.
 * @throws DataflexError INCOMPLETE_GROUP naming the uid and both sizes (`on_incomplete_group: error`); `score` counts and warns.
 */
export function checkGroups(spec: PipelineSpec, batch: Batch, notes: Notes): void {
  const want = spec.group_size;
  if (want === undefined) return;
  const short = batch.groupSizes("uid").filter(({ size }) => size < want);
  const first = short[0];
  if (first === undefined) return;
  if (spec.on_incomplete_group === "error") {
    const others = short.length > 1 ? ` (and ${short.length - 1} more groups)` : "";
    throw new DataflexError(
      "INCOMPLETE_GROUP",
      `group '${first.name}' has ${first.size} of ${want} responses${others}; put the missing rows, or set on_incomplete_group: score`,
      { uid: first.name, have: first.size, want, groups: short.length },
    );
  }
  notes.count("incomplete_groups", short.length);
  notes.warn(
    "some groups are incomplete and were scored as they are (metric incomplete_groups; on_incomplete_group: score)",
  );
}
