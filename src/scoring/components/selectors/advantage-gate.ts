import { z } from "zod";
import { defineSelector } from "../define.js";

/**
 * Drops groups whose advantages are all too small to teach anything.
 *
 * Drop the group iff reject_min ≤ A[i,t] ≤ reject_max for every unmasked token of its live rows. `(rows,)` → kept row numbers.
 * Compared as float32, both ends belong to the band. The default band [0, 0] drops groups without any advantage.
 *
 * Example: A = 0, 0 | 0.5, −0.5 → the second group stays.
 * Source: prime-rl, the advantage gate.
 */
export const advantageGate = defineSelector({
  name: "advantage_gate",
  requires: ["advantages", "response_mask", "uid"],
  accepts: "row",
  timing: "post_advantage",
  needs_groups: true,
  rows: "group",
  params: z.strictObject({ reject_min: z.number().default(0), reject_max: z.number().default(0) }),
  rules: [{ rule: "at_most", params: ["reject_min", "reject_max"] }],
  doc: {
    summary: "Drops groups whose advantages all lie in a band around 0.",
    formula: "drop group g iff reject_min <= A[i,t] <= reject_max for every i in g and t with m[i,t] = 1",
    score: "none: it reads the tokens' advantages themselves; name signed_advantage as the scorer",
    edges: [
      "both ends belong to the band, compared as float32",
      "padding and fully masked rows do not count",
      "dropped groups are counted (groups_dropped)",
      "every group in the band: on_empty decides",
    ],
    params: { reject_min: "lower end of the band", reject_max: "upper end of the band" },
    source: { ref: "prime-rl", verified: "authors' code read" },
  },
  act(_scores, batch, { params: { reject_min, reject_max }, count }) {
    const advantages = batch.field("advantages");
    const outside = advantages.min().lt(reject_min).or(advantages.max().gt(reject_max));
    const groups = batch.groupBy("uid").members();
    const kept = groups.filter((members) => members.some((i) => outside.values[i] === 1));
    count("groups_dropped", groups.length - kept.length);
    return kept.flatMap((members) => [...members]).sort((a, b) => a - b);
  },
});
