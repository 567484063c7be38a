import type { Rule } from "../../scoring/components/component-types.js";
import { show } from "../config/describe.js";

/** A rule in words, for `components NAME`. */
export function ruleText(rule: Rule): string {
  switch (rule.rule) {
    case "less":
      return `${rule.params[0]} < ${rule.params[1]}`;
    case "at_most":
      return `${rule.params[0]} <= ${rule.params[1]}`;
    case "floor_fits":
      return `${rule.params[0]} <= 1 / number of domains`;
    case "shares":
      return `${rule.params[0]}: one number a domain, sum > 0`;
  }
}

/**
 * The sentence for a violated rule, or undefined if it holds.
 * @param domains number of domains of the pipeline, where it has some.
 */
export function brokenRule(
  rule: Rule,
  params: Readonly<Record<string, unknown>>,
  domains: number | undefined,
): string | undefined {
  if (rule.rule === "floor_fits") return floorProblem(rule.params[0], params[rule.params[0]], domains);
  if (rule.rule === "shares") return sharesProblem(rule.params[0], params[rule.params[0]], domains);
  const [first, second] = rule.params as readonly [string, string];
  const a = params[first];
  const b = params[second];
  if (typeof a !== "number" || typeof b !== "number") return undefined;
  if (rule.rule === "less" ? a < b : a <= b) return undefined;
  const wanted = rule.rule === "less" ? "below" : "at most";
  return `${first} must be ${wanted} ${second}, got ${first} = ${show(a)} and ${second} = ${show(b)}`;
}

function floorProblem(name: string, floor: unknown, domains: number | undefined): string | undefined {
  if (typeof floor !== "number" || domains === undefined || floor * domains <= 1) return undefined;
  const most = Math.floor(10_000 / domains) / 10_000;
  return `${name} is a share of every one of ${domains} domains, so at most 1/${domains} (${most}), got ${show(floor)}`;
}

/** One number ≥ 0 per domain, with a sum above 0; for parameters and for the option `prior`. */
export function sharesProblem(name: string, shares: unknown, domains: number | undefined): string | undefined {
  if (!Array.isArray(shares)) return undefined;
  if (domains !== undefined && shares.length !== domains) {
    return `${name} must have one entry a domain: ${domains} domains, got ${shares.length} entries`;
  }
  const bad = shares.find((share) => typeof share !== "number" || !(share >= 0) || share === Number.POSITIVE_INFINITY);
  if (bad !== undefined) return `${name} must be numbers >= 0, got ${show(bad)}`;
  const sum = shares.reduce((total: number, share: number) => total + share, 0);
  if (sum === Number.POSITIVE_INFINITY)
    return `${name} has a sum beyond the largest number; shares are best written between 0 and 1`;
  return sum > 0 ? undefined : `${name} needs at least one entry above 0`;
}
