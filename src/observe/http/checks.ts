import { type Check, within } from "../../lifecycle.js";

/** What a service answers at /healthz (is it alive?) and /readyz (may it be given work?). */
export interface ServiceChecks {
  health(): Promise<readonly Check[]>;
  ready(): Promise<readonly Check[]>;
}

/** Body of /healthz and /readyz. */
export interface CheckReport {
  readonly status: "ok" | "failed";
  readonly role: string;
  readonly checks: readonly Check[];
}

export const report = (role: string, checks: readonly Check[]): CheckReport => ({
  status: checks.every((c) => c.ok) ? "ok" : "failed",
  role,
  checks,
});

/** How long one round of checks may take; a probe that waits longer is cut off by its caller before that. */
const CHECKS_MS = 3_000;

/** Runs checks so that an error or silence of theirs is a failed check, never an error of the request. */
export async function runChecks(checks: () => Promise<readonly Check[]>): Promise<readonly Check[]> {
  const failed = (reason: string): readonly Check[] => [{ name: "checks", ok: false, reason }];
  try {
    return await within(CHECKS_MS, checks(), () => failed(`no answer within ${CHECKS_MS} ms`));
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
}
