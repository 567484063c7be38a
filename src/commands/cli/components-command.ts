import { addCommand, type Register } from "./command.js";

interface Options {
  readonly json?: boolean;
  readonly plugin?: string[];
}

export const register: Register = (program, { io }) => {
  addCommand(program, "components [name]", {
    summary: "list the components, or describe one",
    description:
      "Lists the scorers, reweighters, selectors, mixers and pre-rollout policies, or prints all about one: formula, fields, stage, " +
      "parameters with defaults and ranges, rules for edge cases, source.",
    examples: [
      ["dataflex-mq components", "the list"],
      ["dataflex-mq components group_solve_rate", "one of them"],
      ["dataflex-mq components mine --plugin ./mine.ts", "one of your own"],
      ["dataflex-mq components --json", "for programs"],
    ],
  }).action(async (name: string | undefined, options: Options, command) => {
    const json = command.optsWithGlobals().json === true;
    const [{ ownCatalogues }, { parseOptions }, text] = await Promise.all([
      import("../services/own-components.js"),
      import("../services/service-options.js"),
      import("./component-text.js"),
    ]);
    const catalogue = (await ownCatalogues(parseOptions("components", { ...options }))).at(-1)!;
    const entries = name === undefined ? catalogue.entries : text.entriesNamed(catalogue, name);
    if (json) {
      io.out(`${JSON.stringify({ fingerprint: catalogue.fingerprint, components: entries }, undefined, 2)}\n`);
      return;
    }
    io.out(name === undefined ? text.listText(entries) : entries.map(text.detailText).join("\n"));
  });
};
