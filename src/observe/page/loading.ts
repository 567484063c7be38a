import type { RunHistory } from "./page-history.js";
import type { HistoryRecord } from "./page-types.js";

/** How many records of a long history are drawn; the newest ones are loaded whole. */
const DRAWN = 6_000;
const NEWEST = 300;

export async function get<T>(path: string): Promise<T> {
  const response = await fetch(`/api/v1${path}`);
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return (await response.json()) as T;
}

/** A run in an address. `.` and `..` would be taken for places above it, so they, and what looks like their escaped form, get a `~` in front. */
export const runSegment = (run: string): string => encodeURIComponent(/^~*\.{1,2}$/.test(run) ? `~${run}` : run);

async function addTo(history: RunHistory, run: string, query: string): Promise<void> {
  const path = `/runs/${runSegment(run)}/steps?${query}`;
  const { records } = await get<{ records: HistoryRecord[] }>(path);
  for (const record of records) history.add(record);
}

/** Long histories (of so many `records`) are thinned for the charts; then the newest records, whole. */
export async function loadHistory(history: RunHistory, run: string, records: number): Promise<void> {
  const every = Math.ceil(records / DRAWN);
  if (every <= 1) return addTo(history, run, `limit=${DRAWN}`);
  await addTo(history, run, `after=0&every=${every}&limit=${DRAWN * 2}`);
  await loadNewest(history, run);
}

export const loadNewest = (history: RunHistory, run: string): Promise<void> => addTo(history, run, `limit=${NEWEST}`);
