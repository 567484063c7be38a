import type { Rule } from "../components/types.js";
import { show } from "../config/describe.js";

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
