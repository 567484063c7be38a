import type { Redis } from "ioredis";
import { extremesOf, recordOf } from "../history/record.js";
import { ERROR_ENTRIES, HISTORY_ENTRIES, HISTORY_ROWS_ENTRIES, HISTORY_TTL_MS, runKeys } from "../redis/keys.js";
import type { Notice } from "./notice.js";
import type { NoticeSink } from "./notices.js";

/**
 * Folds notices into the history of their runs. An entry has its notice's id, which Redis takes once: a batch that is read again, by
 * this broker or by the next leader, adds nothing. Runs without a mount (removed by the command that made them up) get no history.
 */
export function historySink(redis: Redis): NoticeSink {
  return {
    begin() {},
    end() {},
    async take(notices, counted) {
      if (!counted || notices.length === 0) return;
      const runs = [...new Set(notices.map((n) => n.run))];
      const mounted = await Promise.all(runs.map((run) => redis.exists(runKeys(run).mount)));
      const living = new Set(runs.filter((_, i) => mounted[i] === 1));
      const pipeline = redis.pipeline();
      for (const notice of notices) if (living.has(notice.run)) append(pipeline, notice);
      for (const run of living) {
        pipeline.pexpire(runKeys(run).history, HISTORY_TTL_MS);
        pipeline.pexpire(runKeys(run).historyRows, HISTORY_TTL_MS);
      }
      for (const [error] of (await pipeline.exec()) ?? []) {
        if (error && !isStored(error)) throw error;
      }
    },
  };
}

type Pipeline = ReturnType<Redis["pipeline"]>;

function append(pipeline: Pipeline, notice: Notice): void {
  const record = recordOf(notice);
  const keys = runKeys(notice.run);
  const text = JSON.stringify(record);
  // The step stands beside the record, so that a long history is thinned without reading records.
  const step = record.kind === "mounted" ? [] : ["step", String(record.step)];
  pipeline.xadd(keys.history, "MAXLEN", "~", HISTORY_ENTRIES, record.id, ...step, "record", text);
  const rows = extremesOf(notice);
  if (rows) {
    pipeline.xadd(keys.historyRows, "MAXLEN", "~", HISTORY_ROWS_ENTRIES, record.id, "rows", JSON.stringify(rows));
  }
  if (record.kind === "failure") {
    pipeline.xadd(keys.errors, "MAXLEN", "~", ERROR_ENTRIES, record.id, "record", text);
  }
}

/** Redis refuses an id that is not above the newest one: it has this entry already. */
const isStored = (error: Error): boolean => error.message.includes("equal or smaller");

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
