import type { Redis } from "ioredis";
import type { Broker } from "../../broker/broker.js";
import type { Leadership } from "../../broker/leadership.js";
import type { Notice } from "../../broker/notice.js";
import type { NoticeSink } from "../../broker/notices.js";
import { appendRecord } from "../../redis/scripts/record.js";
import { extremesOf, recordOf } from "./history-record.js";

/** Adds notices to the history of their runs, each once, however often a batch is read. Runs that are gone get no history. */
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
  const step = record.kind === "mounted" ? undefined : record.step;
  await appendRecord(redis, notice.run, { id: record.id, step, record, rows, isFailure: record.kind === "failure" });
}

/** A broker that, while it leads, keeps the history of the runs before it passes notices on to its sink. */
export function withHistory(broker: Broker): Pick<Broker, "redis" | "queues"> & { lead(sink: NoticeSink): Leadership } {
  return {
    redis: broker.redis,
    queues: broker.queues,
    lead: (sink) => broker.lead(historySink(broker.redis), sink),
  };
}
