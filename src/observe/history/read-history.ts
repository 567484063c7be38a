import type { Redis } from "ioredis";
import type { ExtremeRows } from "../../protocol/statistics-messages.js";
import { ALL_TAGS, runKeys, tagKeys } from "../../redis/keys.js";
import { type Entry, parseEntries, readRange } from "../../redis/streams.js";
import type { FailureRecord, HistoryRecord, StepRecord } from "./history-record.js";

export interface StepsQuery {
  /** Only records after this id, oldest first. Absent: the newest ones. */
  readonly after?: string;
  /** Maximum number of records. */
  readonly limit: number;
  /** For long histories: only steps whose number is divisible by this; mounts and the newest record always. */
  readonly every: number;
}
export interface StepsAnswer {
  /** JSON of each record, ascending by id: they are only passed on. */
  readonly records: readonly string[];
  /** Id up to which the history was read: what `after` is next time. */
  readonly read_to: string | undefined;
}

const MAX_RECORDS = 20_000;
const PAGE = 1_000;

/** Records of a run, in pages, so that a long history never stalls Redis. */
export async function readSteps(redis: Redis, run: string, q: StepsQuery): Promise<StepsAnswer> {
  const { history } = runKeys(run);
  const newestFirst = q.after === undefined;
  const found: Entry[] = [];
  let last: Entry | undefined;
  let edge = newestFirst ? "+" : `(${q.after}`;
  for (;;) {
    const page = newestFirst
      ? parseEntries((await redis.xrevrangeBuffer(history, edge, "-", "COUNT", PAGE)) as never)
      : await readRange(redis, history, edge, "+", PAGE);
    for (const entry of page) if (found.length < q.limit && divides(entry, q.every)) found.push(entry);
    last = newestFirst ? (last ?? page[0]) : (page.at(-1) ?? last);
    if (page.length < PAGE || found.length >= q.limit) break;
    edge = `(${page.at(-1)!.id}`;
  }
  if (newestFirst) found.reverse();
  const full = !newestFirst && found.length >= q.limit;
  if (last && !full && found.at(-1)?.id !== last.id) found.push(last);
  return { records: found.map(textOf), read_to: full ? found.at(-1)?.id : (last?.id ?? q.after) };
}

function divides({ fields }: Entry, every: number): boolean {
  return every <= 1 || fields.step === undefined || Number(fields.step.toString()) % every === 0;
}
const textOf = ({ fields }: Entry): string => fields.record?.toString() ?? "null";

/** The newest records of a run, newest first. */
export async function newestRecords(redis: Redis, run: string, count: number): Promise<HistoryRecord[]> {
  const raw = await redis.xrevrangeBuffer(runKeys(run).history, "+", "-", "COUNT", count);
  return parseEntries(raw as never).flatMap(parseRecord);
}

/** Records of a run after an id, oldest first; a page of them at most. */
export async function recordsAfter(redis: Redis, run: string, id: string): Promise<HistoryRecord[]> {
  return (await readRange(redis, runKeys(run).history, `(${id}`, "+", PAGE)).flatMap(parseRecord);
}

/** Everything known about one step: its records and, by record id, its lowest and highest weighted rows. */
export async function readStep(
  redis: Redis,
  run: string,
  step: number,
): Promise<{ records: StepRecord[]; rows: Record<string, ExtremeRows> }> {
  const { records: texts } = await readSteps(redis, run, { limit: MAX_RECORDS, every: 1 });
  const wanted = `"step":${step},`;
  const records = texts
    .filter((text) => text.includes(wanted))
    .map((text) => JSON.parse(text) as StepRecord)
    .filter((record) => record.step === step); // a mount has none
  const rows: Record<string, ExtremeRows> = {};
  for (const { id } of records) {
    const [entry] = await readRange(redis, runKeys(run).historyRows, id, id, 1);
    if (entry?.fields.rows) rows[id] = JSON.parse(entry.fields.rows.toString()) as ExtremeRows;
  }
  return { records, rows };
}

/** The newest failures over all runs, newest first. */
export async function newestErrors(redis: Redis, count: number): Promise<FailureRecord[]> {
  const lists = await Promise.all(
    ALL_TAGS.map(async (tag) => {
      const raw = await redis.xrevrangeBuffer(tagKeys(tag).errors, "+", "-", "COUNT", count);
      return parseEntries(raw as never).flatMap(parseRecord);
    }),
  );
  const all = lists.flat().filter((record): record is FailureRecord => record.kind === "failure");
  return all.sort((a, b) => b.at - a.at).slice(0, count);
}

/** Another version's entry may hold anything. */
function parseRecord({ fields }: Entry): HistoryRecord[] {
  try {
    return [JSON.parse(fields.record?.toString() ?? "") as HistoryRecord];
  } catch {
    return [];
  }
}
