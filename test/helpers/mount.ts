import type { Catalogue } from "../../src/mounting/catalogue/catalogue-entry.js";
import type { MountInput } from "../../src/mounting/catalogue/resolution.js";
import { resolveMount } from "../../src/mounting/catalogue/resolve.js";
import { fakeCatalogue } from "./catalogue.js";

export const builtin = fakeCatalogue();
export const REWEIGHT = {
  mechanism: "reweight",
  scorer: { name: "advantage_magnitude" },
  actuator: { name: "softmax", params: { temperature: 1.0 } },
};
export const SELECT = {
  mechanism: "select",
  scorer: { name: "group_solve_rate", params: { success_threshold: 0.5 } },
  actuator: { name: "threshold_band", params: { low: 0.2, high: 0.8 } },
};

export function resolve(
  dataflex: unknown,
  more: Partial<MountInput> = {},
  catalogues: readonly Catalogue[] = [builtin],
) {
  return resolveMount({ dataflex, mode: "check", adv_estimator: "grpo", ...more }, catalogues);
}
/** The resolution of a block that must be fine. */
export function mounted(...args: Parameters<typeof resolve>) {
  const resolution = resolve(...args);
  if (!resolution.ok) throw new Error(JSON.stringify(resolution.problems));
  return resolution;
}
/** The problems of a block that must be refused, as `path` and `message | suggestion`. */
export function problems(...args: Parameters<typeof resolve>) {
  const resolution = resolve(...args);
  if (resolution.ok) throw new Error("was accepted");
  return resolution.problems.map((p) => ({ path: p.path.join("."), text: `${p.message} | ${p.suggestion ?? ""}` }));
}
