import type { RunState } from "../status/overview-types.js";
import type { JudgedStep } from "./judged-steps.js";
import type { Reason, ReasonKind } from "./verdict-types.js";

/** A run is silent when it has been still for so many of its steps. */
const STILL = 10;
const FEWEST = 5;

/** What is true of a run now, beside its steps. */
export interface Life {
  readonly state: RunState;
  /** The first pipeline that no live worker serves. */
  readonly orphan: { readonly name: string; readonly stage: string; readonly isBuiltin: boolean } | undefined;
  readonly openSteps: number;
  /** Redis ms. */
  readonly now: number;
}

export const NO_WORKER = {
  code: "no_worker",
  alerts: { bad: "RunWithoutWorker" },
  patience: "1m",
  title: "no worker serves one of the run's pipelines",
  fix: "dataflex-mq worker",
  runbook: "no-worker-is-there",
} as const satisfies ReasonKind;
export const SILENT = {
  code: "silent",
  alerts: { warn: "RunSilent" },
  title: "nothing has been heard of the run for long",
  fix: "look at the trainer's log: it hangs, or it has died",
  runbook: "a-trainer-is-silent",
} as const satisfies ReasonKind;

/** What is wrong with a run that no step shows. A run that has ended is not judged by it. */
export function liveReasons(steps: readonly JudgedStep[], life: Life): Reason[] {
  if (life.orphan && life.state === "no_worker") {
    const { name, stage, isBuiltin } = life.orphan;
    const text = `no worker serves pipeline "${name}" (${stage}): its steps wait`;
    const fix = isBuiltin ? NO_WORKER.fix : `${NO_WORKER.fix} --plugin FILE`;
    return [{ code: NO_WORKER.code, level: "bad", text, fix, since_step: null }];
  }
  if (life.state === "silent") {
    const open = life.openSteps === 1 ? "1 step is" : `${life.openSteps} steps are`;
    return [silent(`its trainer is silent, and ${open} still open`)];
  }
  const still = life.state === "live" ? stillness(steps, life.now) : undefined;
  return still === undefined ? [] : [silent(`no step has ended for ${still}`)];
}

const silent = (text: string): Reason => ({
  code: SILENT.code,
  level: "warn",
  text,
  fix: SILENT.fix,
  since_step: null,
});

/** How long a run has been still, in words; undefined while that is nothing unusual. */
function stillness(steps: readonly JudgedStep[], now: number): string | undefined {
  const ends = steps.flatMap(({ release }) => release?.at ?? []);
  if (ends.length < FEWEST) return undefined;
  const gaps = ends
    .slice(1)
    .map((at, i) => at - ends[i]!)
    .sort((a, b) => a - b);
  const usual = gaps[gaps.length >> 1]!;
  const still = now - ends.at(-1)!;
  if (usual <= 0 || still <= STILL * usual || still < MINUTE) return undefined;
  return `${Math.round(still / MINUTE)} min, ${Math.round(still / usual)} times as long as its steps take`;
}

const MINUTE = 60_000;
