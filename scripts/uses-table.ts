import { KNOWN_TRAINERS, type Remedy, USES } from "../src/scoring/components/uses.js";

/**
 * The part of docs/components.md that finds a component by the problem at hand.
 * @param kindsOf kinds of a component's name, for the anchors of its sections.
 */
export function usesTable(kindsOf: (name: string) => readonly string[]): string[] {
  const row = ({ does, components, recipe, settings = {} }: Remedy, problem: string): string => {
    const links = components.map((name) => `[\`${name}\`](#${kindsOf(name)[0]}-${name})`).join(", ") || "–";
    const file = recipe === undefined ? "–" : `[${recipe}](../config/recipes/${recipe})`;
    const names = KNOWN_TRAINERS.map((trainer) => (settings[trainer] ?? "–").replace(/[_|*]/g, "\\$&"));
    return `| ${[problem, does, links, file, ...names].join(" | ")} |`;
  };
  return [
    "## By use",
    "",
    "What `dataflex-mq components --by use` prints: which components meet which problem, and what other trainers call the same.",
    "",
    `| problem | what helps | components | recipe | ${KNOWN_TRAINERS.join(" | ")} |`,
    `|---|---|---|---|${KNOWN_TRAINERS.map(() => "---|").join("")}`,
    ...USES.flatMap(({ problem, remedies }) => remedies.map((remedy, i) => row(remedy, i === 0 ? problem : ""))),
    "",
  ];
}
