import { DataflexError } from "../../errors.js";
import type { HistoryRecord } from "../../observe/history/history-record.js";
import { newestRecords } from "../../observe/history/read-history.js";
import { readOverview } from "../../observe/status/overview.js";
import type { Overview } from "../../observe/status/overview-types.js";
import { connect, failFast } from "../../redis/connect.js";
import { Queues } from "../../redis/queue/queues.js";
import { didYouMean } from "../../suggest.js";
import { plain } from "./table.js";

export interface SeenStatus {
  readonly overview: Overview;
  readonly run?: string;
  /** Of the named run, newest first. */
  readonly records?: readonly HistoryRecord[];
}

const RECORDS = 40;
/** How long a silent server may delay the end. */
const GOODBYE_MS = 1_000;

/** Opens Redis for as long as `use` reads. Errors: REDIS_UNREACHABLE; USAGE for a run that is not mounted. */
export async function withOverview(
  redisUrl: string,
  run: string | undefined,
  use: (read: () => Promise<SeenStatus>) => Promise<void>,
): Promise<void> {
  const redis = await connect(redisUrl, "command", { name: "status" });
  const queues = new Queues(redis, () => {});
  try {
    await use(async () => {
      const overview = await readOverview(redis, queues);
      if (run === undefined) return { overview };
      const names = overview.runs.map((r) => r.run);
      if (!names.includes(run)) throw unknownRun(run, names);
      return { overview, run, records: await newestRecords(redis, run, RECORDS) };
    });
  } finally {
    failFast(redis, GOODBYE_MS);
    await queues.close();
    redis.disconnect();
  }
}

function unknownRun(run: string, names: readonly string[]): DataflexError {
  const near = didYouMean(run, names);
  const known = names.length === 0 ? "no run is mounted" : `mounted: ${names.slice(0, 12).join(", ")}`;
  return new DataflexError("USAGE", plain(`no run "${run}"${near ? `; ${near}` : ""}   ${known}`), { run });
}
