import { addCommand, notEmpty, type Register } from "./command.js";
import { EXIT } from "./exit.js";

interface Options {
  readonly advEstimator?: string;
  readonly json?: boolean;
  readonly plugin?: string[];
}

export const register: Register = (program, { io, setExit }) => {
  addCommand(program, "check <config>", {
    summary: "validate a configuration offline",
    description:
      "Validates a dataflex block, in a file of its own or inside a whole verl configuration (YAML or JSON), against the built-in components and the plugins named. Prints the pipelines as they would be mounted, or every problem with line, column and suggestion.",
    examples: [
      ["dataflex-mq check dataflex.yaml", "all problems at once, or the resolved pipelines"],
      ["dataflex-mq check verl.yaml --adv-estimator gae", "as if the trainer used another estimator"],
      ["dataflex-mq check dataflex.yaml --plugin ./my-scorer.ts", "with components of your own"],
      ["dataflex-mq check dataflex.yaml --json", "for programs"],
    ],
  })
    .option(
      "--adv-estimator <name>",
      "advantage estimator of the trainer; wins over algorithm.adv_estimator of the file",
      notEmpty,
    )
    .action(async (file: string, options: Options, command) => {
      const json = command.optsWithGlobals().json === true;
      const [{ checkFile }, { parseOptions }, { mountText }] = await Promise.all([
        import("./check-file.js"),
        import("../services/service-options.js"),
        import("./mount-text.js"),
      ]);
      const report = await checkFile(file, options.advEstimator, parseOptions("check", { ...options }));
      if (json) {
        io.out(`${JSON.stringify(report, undefined, 2)}\n`);
        if (!report.ok) setExit(EXIT.usage);
        return;
      }
      if (!report.ok) {
        const { configError } = await import("../../mounting/config/problems.js");
        throw configError(report.problems);
      }
      io.out(mountText(file, report));
    });
};
