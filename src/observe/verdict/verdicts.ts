import type { Redis } from "ioredis";
import type { Handle } from "../../protocol/messages.js";
import { newestRecords, recordsAfter } from "../history/read-history.js";
import { judge, verdictOf } from "./judge.js";
import { JudgedSteps, WINDOW } from "./judged-steps.js";
import { type Life, liveReasons } from "./live-rules.js";
import type { Reason, Verdict } from "./verdict-types.js";

interface Known {
  readonly incarnation: number;
  readonly steps: JudgedSteps;
  readTo: string;
  reasons: readonly Reason[];
}

/**
 * The verdict of each run, from its history in Redis. A process keeps one of these: history is read once, then only what is new of it. Which
 * process asks, and since when, makes no difference, since every verdict is over the newest `WINDOW` steps.
 */
export class Verdicts {
  readonly #redis: Redis;
  readonly #known = new Map<string, Known>();

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  async of(handle: Handle, life: Life): Promise<Verdict> {
    const known = await this.#read(handle);
    const live = life.state === "ended" ? [] : liveReasons(known.steps.all, life);
    return verdictOf([...live, ...known.reasons]);
  }

  /** Forgets runs that are not mounted any more. */
  keep(runs: ReadonlySet<string>): void {
    for (const run of this.#known.keys()) if (!runs.has(run)) this.#known.delete(run);
  }

  async #read(handle: Handle): Promise<Known> {
    const { run, incarnation } = handle;
    const before = this.#known.get(run);
    const known =
      before?.incarnation === incarnation
        ? before
        : { incarnation, steps: new JudgedSteps(), readTo: "", reasons: [] as readonly Reason[] };
    const perStep = handle.pipelines.length + 1;
    const found =
      known.readTo === ""
        ? (await newestRecords(this.#redis, run, WINDOW * perStep)).reverse()
        : await recordsAfter(this.#redis, run, known.readTo);
    this.#known.set(run, known);
    if (found.length === 0) return known;
    for (const record of found) if (record.kind !== "mounted") known.steps.add(record);
    known.readTo = found.at(-1)!.id;
    const pipelines = handle.pipelines.map(({ name, mechanism, shadow }) => ({ name, mechanism, delivered: !shadow }));
    // A line to type names the run.
    const named = ({ fix, ...reason }: Reason): Reason => ({
      ...reason,
      fix: fix.replace("status RUN ", `status ${run} `),
    });
    known.reasons = judge(known.steps.all, pipelines).map(named);
    return known;
  }
}
