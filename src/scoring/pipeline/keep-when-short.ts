import type { Batch } from "../batch/batch.js";
import { liveRows } from "../batch/frame.js";
import type { Component } from "../components/component-types.js";

/**
 * What stays after all where a selection keeps fewer rows than the floor: rejected rows, the last ones first, until there are enough. A
 * selector that judges groups gets whole groups back, so more rows than the floor may stay. Those that arrived first are the ones
 * that are dropped, as in a trainer that rejects them while others may still come.
 *
 * @param floor least rows to keep; undefined: none
 * @param kept rows, ascending
 * @param units candidates for staying, each the rows that stay together
 */
export function keepWhenShort(
  floor: number | undefined,
  kept: Int32Array,
  units: readonly (readonly number[] | Int32Array)[],
): Int32Array {
  if (floor === undefined || kept.length >= floor) return kept;
  const stays = new Set(kept);
  for (const unit of [...units].sort((a, b) => b[0]! - a[0]!)) {
    if (stays.size >= floor) break;
    for (const row of unit) stays.add(row);
  }
  return Int32Array.from(stays).sort();
}

/** The live rows of a batch as a selector judges them: group by group, or each by itself. */
export function judgedTogether(actuator: Component, batch: Batch): readonly (readonly number[] | Int32Array)[] {
  if (actuator.kind !== "mixer" && actuator.needs_groups) return batch.groupBy("uid").members();
  return Array.from(liveRows(batch.frame), (row) => [row]);
}
