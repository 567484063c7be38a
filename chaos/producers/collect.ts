import { setTimeout as pause } from "node:timers/promises";
import type { Answer } from "../check/judge.js";
import { MAX_WAIT_MS } from "../plan/runs.js";
import type { Piece, StepPlan } from "../plan/step-plan.js";
import type { AskOwner, Crew } from "./crew.js";
import { Died } from "./producer-process.js";

/** Who puts a step: the owner that began it, and the ranks. */
export interface Producers {
  readonly owner: AskOwner;
  readonly ranks: Pick<Crew, "askRank">;
}

/**
 * Puts a step as planned, and waits for its weights. `again`: an attempt at the step has failed before, so that its puts replace what is
 * there. Errors: Interrupted, Died (a rank was replaced: the step must be put again), Refused, Hung.
 */
export async function collect(
  producers: Producers,
  plan: StepPlan,
  patienceMs: number,
  again: boolean,
): Promise<Answer> {
  for (const piece of plan.first) await put(producers, plan, piece, again);
  await allDone(plan.others.filter((p) => !p.late).map((piece) => put(producers, plan, piece, again)));
  await pause(plan.busyMs);
  const late = plan.others.filter((p) => p.late).map((piece) => putLate(producers, plan, piece, again));
  const waiting = producers.owner<Answer>({ op: "weights", step: plan.step, timeoutMs: patienceMs }, patienceMs);
  await allDone([waiting, ...late]);
  return waiting;
}

async function put(producers: Producers, plan: StepPlan, piece: Piece, again: boolean): Promise<void> {
  await pause(piece.pauseMs);
  const versions = piece.draft === undefined || again ? [piece.fields] : [piece.draft, piece.fields];
  for (const [i, fields] of versions.entries()) {
    for (let n = 0; n < piece.times; n++) await send(producers, plan, { ...piece, fields }, again || i > 0);
    if (i === 0 && versions.length > 1) await pause(piece.draftMs);
  }
}

/** The owner waits already: a rank that is replaced now puts all its rows again. */
async function putLate(producers: Producers, plan: StepPlan, piece: Piece, again: boolean): Promise<void> {
  try {
    await put(producers, plan, piece, again);
  } catch (error) {
    if (!(error instanceof Died)) throw error;
    for (const mine of plan.others.filter(({ who }) => who === piece.who)) await send(producers, plan, mine, true);
  }
}

async function send(producers: Producers, { step }: StepPlan, piece: Piece, replace: boolean): Promise<void> {
  const { stage, fields, rows, who } = piece;
  const request = { op: "put", step, stage, fields, options: { ...rows, replace } } as const;
  await (who === 0 ? producers.owner(request, MAX_WAIT_MS) : producers.ranks.askRank(who - 1, request, MAX_WAIT_MS));
}

/** Waits for all, so that nothing of this attempt comes after the next has begun; then the first error counts. */
async function allDone(work: readonly Promise<unknown>[]): Promise<void> {
  for (const one of await Promise.allSettled(work)) if (one.status === "rejected") throw one.reason;
}
