import { DataflexError } from "../../errors.js";
import { addCommand, type Register } from "./command.js";

interface Options {
  readonly out: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

export const register: Register = (program, { io }) => {
  addCommand(program, "export <what>", {
    summary: "write the Grafana dashboards or the Prometheus rules into a folder",
    description:
      "`dashboards`: the dashboards and the provisioning of Grafana. `alerts`: the scrape configuration of Prometheus, its rules and their\n" +
      "tests. A file that is there already with other contents is left alone unless --force is given.",
    examples: [
      ["dataflex-mq export dashboards --out grafana", "for your own Grafana"],
      ["dataflex-mq export alerts --out prometheus", "for your own Prometheus"],
    ],
  })
    .option("--out <dir>", "folder to write into", ".")
    .option("--force", "replace files that differ")
    .action(async (what: string, options: Options, command) => {
      const json = command.optsWithGlobals().json === true;
      const { didYouMean } = await import("../../suggest.js");
      const { EXPORTS, exportFiles } = await import("./export-files.js");
      if (!Object.hasOwn(EXPORTS, what)) {
        const known = Object.keys(EXPORTS);
        const near = didYouMean(what, known);
        throw new DataflexError(
          "USAGE",
          `nothing to export is called "${what}"${near ? `; ${near}` : ""}   known: ${known.join(", ")}`,
          { what },
        );
      }
      const files = await exportFiles(what as keyof typeof EXPORTS, options.out, options.force === true);
      if (json) io.out(`${JSON.stringify({ files })}\n`);
      else for (const { file, written } of files) io.out(`${written ? "written  " : "unchanged"} ${file}\n`);
    });
};
