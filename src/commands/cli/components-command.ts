import { InvalidArgumentError } from "commander";
import { addCommand, type Register } from "./command.js";

interface Options {
  readonly json?: boolean;
  readonly plugin?: string[];
  readonly by?: string;
}

export const register: Register = (program, { io }) => {
  const command = addCommand(program, "components [name]", {
    summary: "list the components, or describe one",
    description:
      "Lists the scorers, reweighters, selectors, mixers and pre-rollout policies, or prints all about one: formula, fields, stage, " +
      "parameters with defaults and ranges, rules for edge cases, source.",
    examples: [
      ["dataflex-mq components", "the list"],
      ["dataflex-mq components --by use", "which ones meet which problem, and what other trainers call them"],
      ["dataflex-mq components group_solve_rate", "one of them"],
      ["dataflex-mq components mine --plugin ./mine.ts", "one of your own"],
      ["dataflex-mq components --json", "for programs"],
    ],
  });
  command.option("--by <what>", "use: by the problem that they meet, with other trainers' names", by);
  command.action(async (name: string | undefined, options: Options, own) => {
    const json = own.optsWithGlobals().json === true;
    if (options.by !== undefined) {
      if (name !== undefined) throw new InvalidArgumentError("--by lists the components: leave the name out");
      const [{ USES }, { usesText }] = await Promise.all([
        import("../../scoring/components/uses.js"),
        import("./uses-text.js"),
      ]);
      io.out(json ? `${JSON.stringify({ uses: USES }, undefined, 2)}\n` : usesText());
      return;
    }
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

function by(text: string): string {
  if (text === "use") return text;
  throw new InvalidArgumentError("expected: use");
}
