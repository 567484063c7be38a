import { isStringField } from "./field-names.js";
import type { Scope } from "./tensor.js";

/**
 * What a field holds: a number a token; one number, or one string, a row; a vector of numbers a row whose width is its own; or numbers a row
 * or a token, as the trainer has them.
 */
export const FIELD_KINDS = ["tokens", "row", "strings", "features", "numbers"] as const;
export type FieldKind = (typeof FIELD_KINDS)[number];

/** A field's kind, where nobody named it: by its scope, else by its name. */
export function kindOf(need: { readonly name: string; readonly scope?: Scope; readonly kind?: FieldKind }): FieldKind {
  return (
    need.kind ??
    (need.scope !== undefined
      ? "tokens"
      : isStringField(need.name)
        ? "strings"
        : need.name === "features"
          ? "features"
          : "row")
  );
}

/** Token fields that trainers also hold as one number a row, and at which of its counted tokens that number stands. */
export const SPREAD_FIELDS: Readonly<Record<string, "last" | "each">> = {
  rm_scores: "last",
  token_level_scores: "last",
  token_level_rewards: "last",
  advantages: "each",
  returns: "each",
};
