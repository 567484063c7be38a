import { type Check, LEVELS, type Level } from "../../redis/finding.js";
import type { Fact, Overview, RunView } from "./overview-types.js";

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

function workerFacts({ queues, workers }: FactInput): Fact[] {
  return queues
    .filter((q) => q.workers > 0 && (q.counts.waiting ?? 0) >= LONG_QUEUE)
    .map((q) => ({
      level: "warning",
      text: `${q.counts.waiting} jobs wait at ${q.stage}; ${workers.length} worker(s) cannot keep up.`,
      fix: "dataflex-mq worker",
    }));
}

/** What a run's verdict says; a run that has ended needs no attention. */
function runFacts({ run, state, verdict }: RunView): Fact[] {
  if (state === "ended") return [];
  return verdict.reasons.map(({ level, text, fix }) => ({
    level: level === "bad" ? "critical" : "warning",
    text: `Run "${run}": ${text}.`,
    fix,
    run,
  }));
}

/** Recent errors of runs that have ended; those of a live run are in its verdict. */
function errorFacts({ errors, runs, at }: FactInput): Fact[] {
  const ended = new Set(runs.filter((r) => r.state === "ended").map((r) => r.run));
  const recent = errors.filter((e) => at - e.at < RECENT_MS && ended.has(e.run));
  const [newest] = recent;
  if (!newest) return [];
  const { run, code, pipeline, step } = newest;
  const text = `Run "${run}" has ended after ${code} in pipeline "${pipeline}" at step ${step}.`;
  return [{ level: "warning", text, run }];
}
