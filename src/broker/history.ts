import type { Redis } from "ioredis";
import { extremesOf, recordOf } from "../history/record.js";
import { ERROR_ENTRIES, HISTORY_ENTRIES, HISTORY_ROWS_ENTRIES, HISTORY_TTL_MS, runKeys } from "../redis/keys.js";
import { runScript } from "../redis/scripts/index.js";
import type { Notice } from "./notice.js";
import type { NoticeSink } from "./notices.js";

/** Folds notices into the history of their runs, each once however often a batch is read. Runs that are gone get no history. */
export function historySink(redis: Redis): NoticeSink {
  return {
    begin() {},
    end() {},
    async take(notices, counted) {
      if (counted) await Promise.all(notices.map((notice) => append(redis, notice)));
    },
  };
}

async function append(redis: Redis, notice: Notice): Promise<void> {
  const record = recordOf(notice);
  const rows = extremesOf(notice);
  const keys = runKeys(notice.run);
  await runScript(
    redis,
    "record",
    [keys.mount, keys.history, keys.historyRows, keys.errors],
    [
      record.id,
      JSON.stringify(record),
      // Beside the record, so that a long history is thinned without reading records.
      record.kind === "mounted" ? "" : record.step,
      rows ? JSON.stringify(rows) : "",
      record.kind === "failure" ? 1 : 0,
      HISTORY_ENTRIES,
      HISTORY_ROWS_ENTRIES,
      ERROR_ENTRIES,
      HISTORY_TTL_MS,
    ],
  );
}

/** Notices for several sinks, one after the other: those that bear a repeated batch first, since an error has it read again. */
export function allSinks(...sinks: readonly NoticeSink[]): NoticeSink {
  return {
    begin: () => {
      for (const sink of sinks) sink.begin();
    },
    end: () => {
      for (const sink of sinks) sink.end();
    },
    take: async (notices, counted) => {
      for (const sink of sinks) await sink.take(notices, counted);
    },
  };
}
