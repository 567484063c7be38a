import { KNOWN_TRAINERS, USES } from "../../scoring/components/uses.js";

/** Components by what one needs them for, with the names that other trainers have for the same. */
export function usesText(): string {
  const lines = USES.flatMap(({ problem, remedies }) => [
    problem,
    ...remedies.flatMap(({ does, components, recipe, settings = {} }) => [
      `  ${does}`,
      ...(components.length === 0 ? [] : [`    ${components.join(", ")}`]),
      ...(recipe === undefined ? [] : [`    recipe: config/recipes/${recipe}`]),
      ...KNOWN_TRAINERS.flatMap((trainer) => {
        const name = settings[trainer];
        return name === undefined ? [] : [`    ${trainer}: ${name}`];
      }),
    ]),
    "",
  ]);
  return [...lines, "All about one: dataflex-mq components NAME", ""].join("\n");
}
