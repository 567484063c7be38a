import type { Redis } from "ioredis";
import { parseNotice } from "../../broker/notice.js";
import { ALL_TAGS, HISTORY_ENTRIES, tagKeys } from "../../redis/keys.js";
import { readRange } from "../../redis/streams.js";
import { QUANTILES, SCORE_EDGES, WEIGHT_EDGES } from "../../scoring/distribution.js";
import { VERSION } from "../../version.js";
import { recordOf } from "../history/history-record.js";
import { readStep, readSteps, type StepsQuery } from "../history/read-history.js";
import type { LiveData, LiveEvent } from "../http/live-data.js";
import { BOUNDS } from "../verdict/verdict-rules.js";
import { Verdicts } from "../verdict/verdicts.js";
import { type QueueCounts, readOverview } from "./overview.js";
import type { Overview } from "./overview-types.js";

/** Redis is read at most this often, however many pages are open. */
const OVERVIEW_MS = 1_000;
const EVENTS = 500;

/** What the page and its API show, read from Redis on request. */
export function liveData(service: { readonly redis: Redis; readonly queues: QueueCounts }): LiveData {
  const { redis, queues } = service;
  const verdicts = new Verdicts(redis);
  let known: { at: number; overview: Promise<Overview> } | undefined;
  return {
    overview() {
      const now = performance.now();
      if (!known || now - known.at >= OVERVIEW_MS) {
        const overview = readOverview(redis, queues, verdicts);
        const asked = { at: now, overview };
        known = asked;
        // A failed read is not cached.
        overview.catch(() => {
          if (known === asked) known = undefined;
        });
      }
      return known.overview;
    },
    steps: (run: string, query: StepsQuery) => readSteps(redis, run, query),
    step: (run, step) => readStep(redis, run, step),
    events: (after) => eventsAfter(redis, after),
    config: () => ({
      version: VERSION,
      weight_edges: WEIGHT_EDGES,
      score_edges: SCORE_EDGES,
      quantiles: QUANTILES,
      history_records: HISTORY_ENTRIES,
      low_ess: BOUNDS.ess.warn,
    }),
  };
}

/** Notices after an id as events with the same ids: every broker reads them, whether it leads or not. */
async function eventsAfter(redis: Redis, after: string): Promise<{ events: LiveEvent[]; gap: boolean }> {
  const { notices } = tagKeys(ALL_TAGS[0]!);
  const entries = await readRange(redis, notices, `(${after}`, "+", EVENTS);
  const events = entries.flatMap((entry) => {
    const notice = parseNotice(entry);
    return notice ? [{ id: entry.id, data: JSON.stringify(recordOf(notice)) }] : [];
  });
  return { events, gap: entries.length > 0 && (await isTrimmed(redis, notices, after)) };
}

/** Whether entries after `after` are no longer there: then only history has them. Redis trims a stream from its oldest entry on. */
async function isTrimmed(redis: Redis, stream: string, after: string): Promise<boolean> {
  const [oldest] = await readRange(redis, stream, "-", "+", 1);
  return after !== "0-0" && oldest !== undefined && isBefore(after, oldest.id);
}

function isBefore(a: string, b: string): boolean {
  const [ams = 0, an = 0] = a.split("-").map(Number);
  const [bms = 0, bn = 0] = b.split("-").map(Number);
  return ams < bms || (ams === bms && an < bn);
}
