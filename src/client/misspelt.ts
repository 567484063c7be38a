import { LAYOUT_COLUMNS, SESSION_COLUMNS } from "../columns/field-names.js";
import type { Handle } from "../protocol/messages.js";
import type { Stage } from "../protocol/stages.js";
import { errorOf } from "../sentences.js";
import { nearest } from "../suggest.js";

/**
 * Names that verl has and that lie close to one another: a put may hold all of them, whichever are wanted.
 */
const KNOWN: readonly string[] = [
  ...LAYOUT_COLUMNS,
  ...SESSION_COLUMNS,
  ...[
    "old_log_probs",
    "ref_log_prob",
    "rollout_log_probs",
    "values",
    "returns",
    "token_level_scores",
    "token_level_rewards",
  ],
];

/**
 * A field under a name that nobody wants, close to a wanted one that is missing, would stay here in silence, and the step would wait in vain.
 *
 * @throws DataflexError INVALID_INPUT naming both
 */
export function refuseMisspelt(handle: Handle, stage: Stage, fields: Readonly<Record<string, unknown>>): void {
  const wantedSomewhere = Object.values(handle.stages).flatMap((needs) => needs.map(({ name }) => name));
  const missing = (handle.stages[stage] ?? []).map(({ name }) => name).filter((name) => !Object.hasOwn(fields, name));
  if (missing.length === 0) return;
  for (const given of Object.keys(fields)) {
    if (wantedSomewhere.includes(given) || KNOWN.includes(given)) continue;
    const [wanted] = nearest(given, missing);
    if (wanted !== undefined) throw errorOf("INVALID_INPUT.misspelt", { given, wanted, stage });
  }
}
