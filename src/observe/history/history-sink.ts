import type { Redis } from "ioredis";
import type { Broker } from "../../broker/broker.js";
import type { Leadership } from "../../broker/leadership.js";
import type { Notice } from "../../broker/notice.js";
import type { NoticeSink } from "../../broker/notices.js";
import { ERROR_ENTRIES, HISTORY_ENTRIES, HISTORY_ROWS_ENTRIES, HISTORY_TTL_MS, runKeys } from "../../redis/keys.js";
import { runScript } from "../../redis/scripts/run-script.js";
import { extremesOf, recordOf } from "./history-record.js";

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

/** A broker that, while it leads, keeps the history of the runs before it passes notices on to its sink. */
export function withHistory(broker: Broker): Pick<Broker, "redis" | "queues"> & { lead(sink: NoticeSink): Leadership } {
  return {
    redis: broker.redis,
    queues: broker.queues,
    lead: (sink) => broker.lead(historySink(broker.redis), sink),
  };
}
