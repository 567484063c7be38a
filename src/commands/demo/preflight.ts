import { builtinCatalogue } from "../../mounting/catalogue/builtin.js";
import { resolveMount } from "../../mounting/catalogue/resolve.js";
import { configError } from "../../mounting/config/problems.js";
import { DEMO_FIELDS } from "./demo-record.js";
import { DEFAULT_SETTINGS } from "./trainer.js";

/** What the demo's trainer says of itself when it mounts. */
export const DEMO_TRAINER = {
  adv_estimator: "grpo",
  group_size: DEFAULT_SETTINGS.samples,
  provides: DEMO_FIELDS,
} as const;

/**
 * Judges a block as its mount would, before any process is started for it.
 *
 * @throws CONFIG with every problem
 */
export function refuseUnfit(dataflex: unknown): void {
  const resolved = resolveMount({ dataflex, mode: "live", ...DEMO_TRAINER }, [builtinCatalogue()]);
  if (!resolved.ok) throw configError(resolved.problems);
}
