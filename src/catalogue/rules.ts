import { show } from "../config/describe.js";

/**
 * What a JSON Schema cannot say about parameters, as data: a closed list, so that a broker without the component's code can
 * check it. `less`: the first parameter is below the second; `at_most`: not above it. Applies where both are numbers.
 */
export const RULES = ["less", "at_most"] as const;
export interface Rule {
  readonly rule: (typeof RULES)[number];
  readonly params: readonly [string, string];
}

/** The sentence a broken rule deserves, or undefined when it holds. */
export function brokenRule(rule: Rule, params: Readonly<Record<string, unknown>>): string | undefined {
  const [first, second] = rule.params;
  const a = params[first];
  const b = params[second];
  if (typeof a !== "number" || typeof b !== "number") return undefined;
  if (rule.rule === "less" ? a < b : a <= b) return undefined;
  const wanted = rule.rule === "less" ? "below" : "at most";
  return `${first} must be ${wanted} ${second}, got ${first} = ${show(a)} and ${second} = ${show(b)}`;
}
