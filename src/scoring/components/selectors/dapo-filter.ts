import { z } from "zod";
import { defineSelector } from "../define.js";

/**
 * Drops groups whose responses all score the same: their group advantages are 0.
 *
 * Keep the group iff its largest score is above its smallest, or it has one row only. `(rows,)` → kept row numbers.
 * Compared as float32.
 *
 * Example: s = 1, 1, 1 | 1, 0, 1 | 0 → the second and the third group stay.
 * Source: arXiv 2503.14476 (dynamic sampling); verl's DAPO filter_groups.
 */
export const dapoFilter = defineSelector({
  name: "dapo_filter",
  requires: ["uid"],
  accepts: "row",
  needs_groups: true,
  rows: "group",
  params: z.strictObject({}),
  doc: {
    summary: "Drops groups whose responses all score the same.",
    formula: "keep group g iff max over g of s_i > min over g of s_i, or g has one row",
    score: "the metric to compare, usually the reward (reward_difficulty)",
    edges: [
      "a group of one is kept, as verl does",
      "scores that are equal as float32 are equal",
      "of each (uid, session) only the last row counts",
      "dropped groups are counted, and their scores summed: which level they were dropped at (groups_dropped, groups_dropped_reward)",
      "verl's own filter_groups samples further prompts instead of losing the rows: prefer it where it is on",
    ],
    source: {
      ref: "arXiv 2503.14476; verl filter_groups",
      verified: "verl's code read",
      differs:
        "verl drops groups whose deviation is exactly 0, which rounding can miss, and samples others in their place; here they are only dropped",
    },
  },
  act(scores, batch, { count }) {
    const groups = batch.groupBy("uid");
    const differ = groups.max(scores).gt(groups.min(scores));
    const kept = differ.or(groups.count().le(1));
    const dropped = groups.members().filter((members) => kept.values[members[0]!] === 0);
    count("groups_dropped", dropped.length);
    count(
      "groups_dropped_reward",
      dropped.reduce((sum, members) => sum + scores.values[members[0]!]!, 0),
    );
    return kept.nonzero();
  },
});
