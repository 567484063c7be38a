import { type Check, LEVELS, type Level } from "../../redis/finding.js";
import type { Fact, Overview, RunView } from "./overview-types.js";

/** Below this a reweighted batch effectively counts for less than a third of its elements. */
const LOW_ESS = 0.3;
/** Failures older than this are history. */
const RECENT_MS = 5 * 60_000;
/** Jobs that wait for workers which are all busy. */
const LONG_QUEUE = 100;

export type FactInput = Omit<Overview, "banner" | "cursor" | "version"> & {
  /** Whether Redis is fit. */
  readonly checks: readonly Check[];
};

/** The most severe fact; of equally severe ones the first below, since causes are listed before their effects. */
export function mostSevere(input: FactInput): Fact {
  const found = facts(input);
  const rank = (level: Level): number => LEVELS.indexOf(level);
  return found.reduce<Fact>((worst, fact) => (rank(fact.level) > rank(worst.level) ? fact : worst), allWell(input));
}

function allWell({ runs, workers }: FactInput): Fact {
  const live = runs.filter((r) => r.state === "live").length;
  if (live > 0) {
    const served = workers.length === 1 ? "1 worker" : `${workers.length} workers`;
    return { level: "ok", text: `All is well: ${live === 1 ? "1 run" : `${live} runs`} live, ${served}.` };
  }
  return { level: "ok", text: "No run is live. Mount one from a trainer, or try the demo.", fix: "dataflex-mq demo" };
}

export function facts(input: FactInput): Fact[] {
  return [
    ...redisFacts(input),
    ...brokerFacts(input),
    ...workerFacts(input),
    ...input.runs.flatMap(runFacts),
    ...errorFacts(input),
  ];
}

/** Checks that a running system may suddenly fail, and then break. `doctor` shows the others. */
const SHOWN: ReadonlySet<string> = new Set(["maxmemory-policy", "memory"]);

function redisFacts({ checks }: FactInput): Fact[] {
  const shown = checks.filter(({ name, level }) => SHOWN.has(name) && (level === "warning" || level === "critical"));
  return shown.map(({ name: _, ...finding }) => ({ ...finding, text: `${finding.text}.` }));
}

function brokerFacts({ brokers }: FactInput): Fact[] {
  if (brokers.length > 0) return [];
  return [{ level: "critical", text: "No broker lives: mounts and steps wait.", fix: "dataflex-mq broker" }];
}

function workerFacts({ runs, queues, workers }: FactInput): Fact[] {
  const found: Fact[] = [];
  for (const run of runs.filter((r) => r.state === "no_worker")) {
    const served = new Set(queues.filter((q) => q.workers > 0).map((q) => q.queue));
    const orphan = run.pipelines.find((p) => !served.has(p.queue));
    found.push({
      level: "critical",
      text: `No worker serves pipeline "${orphan?.name ?? ""}" (${orphan?.stage ?? ""}) of run "${run.run}": its steps wait.`,
      fix: orphan?.queue.includes(".plugin") ? "dataflex-mq worker --plugin FILE" : "dataflex-mq worker",
      run: run.run,
    });
  }
  for (const q of queues.filter((q) => q.workers > 0 && (q.counts.waiting ?? 0) >= LONG_QUEUE)) {
    found.push({
      level: "warning",
      text: `${q.counts.waiting} jobs wait at ${q.stage}; ${workers.length} worker(s) cannot keep up.`,
      fix: "dataflex-mq worker",
    });
  }
  return found;
}

function runFacts(run: RunView): Fact[] {
  const found: Fact[] = [];
  if (run.state === "silent") {
    const steps = run.open_steps === 1 ? "1 step is" : `${run.open_steps} steps are`;
    found.push({
      level: "warning",
      text: `The trainer of run "${run.run}" is silent, and ${steps} still open.`,
      run: run.run,
    });
  }
  if (run.state === "ended") return found;
  for (const p of run.pipelines.filter((p) => p.delivered)) {
    const last = run.last[p.name];
    if (last?.kept === 0) {
      found.push({
        level: "warning",
        text: `Pipeline "${p.name}" of run "${run.run}" kept nothing of step ${last.step}.`,
        run: run.run,
      });
    } else if (p.mechanism === "reweight" && last?.ess != null && last.ess < LOW_ESS) {
      found.push({
        level: "warning",
        text: `The weights of "${p.name}" in run "${run.run}" rest on few rows: effective sample size ${last.ess.toFixed(2)} at step ${last.step}.`,
        run: run.run,
      });
    }
  }
  return found;
}

function errorFacts({ errors, at }: FactInput): Fact[] {
  const recent = errors.filter((e) => at - e.at < RECENT_MS);
  const [newest] = recent;
  if (!newest) return [];
  const count = recent.length === 1 ? "A step failed" : `${recent.length} steps failed`;
  return [
    {
      level: "warning",
      text: `${count} in the last 5 minutes; the newest: ${newest.code} in pipeline "${newest.pipeline}" of run "${newest.run}", step ${newest.step}.`,
      run: newest.run,
    },
  ];
}
