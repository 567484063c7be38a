import type { Check } from "../../lifecycle.js";

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
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly Check[]>((resolve) => {
    timer = setTimeout(
      () => resolve([{ name: "checks", ok: false, reason: `no answer within ${CHECKS_MS} ms` }]),
      CHECKS_MS,
    );
  });
  try {
    return await Promise.race([checks(), late]);
  } catch (error) {
    return [{ name: "checks", ok: false, reason: error instanceof Error ? error.message : String(error) }];
  } finally {
    clearTimeout(timer);
  }
}
