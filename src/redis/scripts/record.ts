import type { Redis } from "ioredis";
import { ERROR_ENTRIES, HISTORY_ENTRIES, HISTORY_ROWS_ENTRIES, HISTORY_TTL_MS, runKeys } from "../keys.js";
import { runScript } from "./run-script.js";

export interface RecordToAppend {
  /** Id of the notice, and of the record. */
  readonly id: string;
  /** Stored beside the record, so that a long history can be thinned without reading records; undefined for a mount. */
  readonly step: number | undefined;
  readonly record: unknown;
  readonly rows: unknown;
  readonly isFailure: boolean;
}

/** Appends a record to its run's history, unless it is already there or the run is gone. */
export async function appendRecord(redis: Redis, run: string, entry: RecordToAppend): Promise<void> {
  const keys = runKeys(run);
  await runScript(
    redis,
    "record",
    [keys.mount, keys.history, keys.historyRows, keys.errors],
    [
      ...[entry.id, JSON.stringify(entry.record), entry.step ?? "", entry.rows ? JSON.stringify(entry.rows) : ""],
      ...[entry.isFailure ? 1 : 0, HISTORY_ENTRIES, HISTORY_ROWS_ENTRIES, ERROR_ENTRIES, HISTORY_TTL_MS],
    ],
  );
}
