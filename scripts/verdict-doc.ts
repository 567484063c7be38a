import { FLAPPING } from "../src/observe/verdict/flapping.js";
import { NO_WORKER, SILENT } from "../src/observe/verdict/live-rules.js";
import { type Rule, STEP_RULES, WEIGHT_RULES } from "../src/observe/verdict/verdict-rules.js";
import type { ReasonKind, SickLevel } from "../src/observe/verdict/verdict-types.js";
import { fillBlock } from "./fill-block.js";

/** docs/live-page.md with the table of what a verdict judges. */
export function verdictDoc(text: string): string {
  const rows = [
    row(NO_WORKER, { bad: "no live worker serves one of its pipelines" }),
    ...[...STEP_RULES, ...WEIGHT_RULES].map((rule) =>
      row(rule as Rule<never>, { warn: levels(rule as Rule<never>, "warn"), bad: levels(rule as Rule<never>, "bad") }),
    ),
    row(SILENT, { warn: "heartbeat ended with steps open, or no step for more than ten times as long as steps take" }),
    row(FLAPPING, { warn: "5 of the last 20 steps sick, none of the above" }),
  ];
  return fillBlock(text, "verdict", ["| code | what | warn | bad | what to do |", "|---|---|---|---|---|", ...rows]);
}

function row({ code, title, fix }: ReasonKind, { warn = "", bad = "" }: { warn?: string; bad?: string }): string {
  return `| \`${code}\` | ${title} | ${warn || "–"} | ${bad || "–"} | ${fix} |`;
}

function levels(rule: Rule<never>, level: SickLevel): string {
  const of = rule.conditions.filter((condition) => condition.level === level);
  return of
    .map((c) => {
      if (!("running" in c)) return `${c.when}: more than ${c.share * 100} % of ${c.of} steps`;
      return c.running === 1 ? `${c.when} once` : `${c.when}, ${c.running} running`;
    })
    .join("; ");
}
