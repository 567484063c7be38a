import type { RecordedStep } from "./recorded-step.js";

/** Whether any two rows that are not padding share a `uid`: without that, no group has statistics. */
export function hasGroupOfTwo(step: RecordedStep): boolean {
  const seen = new Set<string>();
  for (const [row, uid] of (step.uid ?? []).entries()) {
    if (step.is_padding?.[row] === 1) continue;
    if (seen.has(uid)) return true;
    seen.add(uid);
  }
  return false;
}
