import { type JudgedWeights, type Rule, type Sight, STEP_RULES, WEIGHT_RULES } from "./verdict-rules.js";
import type { Reason, ReasonKind } from "./verdict-types.js";

/** So many sick steps among the last so many, each too short to be named by a rule of its own. */
const SICK = 5;
const LAST = 20;
/** Conditions that need more steps running are about a habit: a single step of it is nothing. */
const BRIEF = 3;

export const FLAPPING = {
  code: "flapping",
  alerts: { warn: "RunFlaps" },
  title: "every few steps are outside a healthy range",
  fix: "look at the charts over steps: what alternates?",
  runbook: "a-run-flaps",
} as const satisfies ReasonKind;

/** A run that is sick again and again, though never for long. */
export function flapping(sights: readonly Sight[], weights: readonly JudgedWeights[]): Reason[] {
  const sick = new Set([
    ...sights.filter((seen) => isSick(STEP_RULES, seen)).map(({ step }) => step),
    ...weights.filter((seen) => isSick(WEIGHT_RULES, seen)).map(({ step }) => step),
  ]);
  const newest = [...new Set(sights.map(({ step }) => step))].slice(-LAST);
  const found = newest.filter((step) => sick.has(step));
  if (found.length < SICK) return [];
  const text = `${found.length} of the last ${newest.length} steps were outside a healthy range, never for long`;
  return [{ code: FLAPPING.code, level: "warn", text, fix: FLAPPING.fix, since_step: found[0]! }];
}

function isSick<T>(rules: readonly Rule<T>[], seen: T): boolean {
  const brief = rules.flatMap((rule) => rule.conditions.filter((c) => "running" in c && c.running <= BRIEF));
  return brief.some((condition) => condition.holds(seen));
}
