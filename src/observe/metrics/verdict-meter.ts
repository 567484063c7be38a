import type { Redis } from "ioredis";
import { lifeOf, readTrainers } from "../status/run-overview.js";
import { REASON_KINDS } from "../verdict/reason-kinds.js";
import { VERDICT_LEVELS, type Verdict } from "../verdict/verdict-types.js";
import type { Verdicts } from "../verdict/verdicts.js";
import { runLabel } from "./labels.js";
import type { Meter } from "./meter.js";
import type { Snapshot } from "./snapshot.js";

/** Verdicts of the runs that have not ended, by run. */
export async function readVerdicts(
  redis: Redis,
  verdicts: Verdicts,
  { workers, now }: Pick<Snapshot, "workers" | "now">,
): Promise<ReadonlyMap<string, Verdict>> {
  const queues = { workers: (queue: string) => workers.filter((w) => w.queues.includes(queue)).length };
  const found = new Map<string, Verdict>();
  for (const trainer of await readTrainers(redis)) {
    const life = lifeOf(trainer, queues, now);
    if (life.state !== "ended") found.set(trainer.handle.run, await verdicts.of(trainer.handle, life));
  }
  verdicts.keep(new Set(found.keys()));
  return found;
}

/** A run that has ended has no series. */
export function setVerdicts(meter: Meter, verdicts: ReadonlyMap<string, Verdict>): void {
  meter.clear(["dataflex_run_verdict_level"]);
  for (const [run, { reasons }] of verdicts) {
    for (const { code } of REASON_KINDS) {
      const level = reasons.find((reason) => reason.code === code)?.level ?? "ok";
      meter.set("dataflex_run_verdict_level", { run: runLabel(run), code }, VERDICT_LEVELS.indexOf(level));
    }
  }
}
