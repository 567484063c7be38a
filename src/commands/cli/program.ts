import { Command, CommanderError } from "commander";
import { DataflexError } from "../../errors.js";
import { didYouMean } from "../../suggest.js";
import { VERSION } from "../../version.js";
import { register as all } from "./all-command.js";
import { register as check } from "./check-command.js";
import type { CommandDeps, Register } from "./command.js";
import { register as components } from "./components-command.js";
import { register as dead } from "./dead-command.js";
import { register as demo } from "./demo-command.js";
import { register as doctor } from "./doctor-command.js";
import { EXIT, type ExitCode, reportError } from "./exit.js";
import { register as exportFiles } from "./export-command.js";
import type { Io } from "./io.js";
import { register as replay } from "./replay-command.js";
import { broker, worker } from "./service-commands.js";
import { register as status } from "./status-command.js";

/** Every command, in the order of the help page. */
const COMMANDS: readonly Register[] = [
  broker,
  worker,
  all,
  demo,
  replay,
  check,
  components,
  status,
  dead,
  doctor,
  exportFiles,
];

export function buildProgram(deps: CommandDeps): Command {
  const program = new Command("dataflex-mq")
    .description("Data scheduling for RL post-training: loss weights computed outside the trainer.")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .option("--json", "print one JSON document for programs")
    .showSuggestionAfterError(false) // suggestions are ours, the same for commands, options, names and parameters
    .exitOverride()
    .configureOutput({
      writeOut: (text) => deps.io.out(text),
      writeErr: (text) => deps.io.err(text),
      outputError: () => {}, // reported once, where the error is caught
    });
  for (const register of COMMANDS) register(program, deps);
  program.addHelpText(
    "after",
    "\nExit codes: 0 done, 1 the work failed, 2 wrong usage or configuration, 3 unreachable Redis.\n" +
      "Help on one command: dataflex-mq COMMAND --help",
  );
  return program;
}

/** Runs one command line (without `node` and the script's name) and returns its exit code. Never throws. */
export async function runCli(argv: readonly string[], io: Io): Promise<ExitCode> {
  let exit: ExitCode = EXIT.done;
  const program = buildProgram({ io, setExit: (code) => (exit = code) });
  try {
    await program.parseAsync([...argv], { from: "user" });
    return exit;
  } catch (thrown) {
    if (thrown instanceof CommanderError) {
      if (thrown.exitCode === 0) return EXIT.done; // help or version was asked for and printed
      if (thrown.code === "commander.help") return EXIT.usage; // no command: the help page is the answer
      return reportError(usageError(thrown, program, argv), io, argv.includes("--json"));
    }
    return reportError(thrown, io, argv.includes("--json"));
  }
}

/** commander's error as ours: `unknown command 'chek'; did you mean "check"?` and where to read on. */
function usageError(thrown: CommanderError, program: Command, argv: readonly string[]): DataflexError {
  const message = thrown.message.replace(/^error: /, "");
  const name = /'([^']+)'/.exec(message)?.[1] ?? "";
  const command = program.commands.find((c) => argv.includes(c.name()));
  let candidates: string[] = [];
  if (thrown.code === "commander.unknownCommand") candidates = program.commands.map((c) => c.name());
  if (thrown.code === "commander.unknownOption") {
    candidates = [...(command ?? program).options.map((option) => option.long ?? ""), "--help"];
  }
  const near = didYouMean(name.replace(/=.*$/, ""), candidates);
  const help = `dataflex-mq ${command === undefined ? "" : `${command.name()} `}--help`;
  return new DataflexError("USAGE", `${message}${near === undefined ? "" : `; ${near}`}   see: ${help}`, {
    argument: name,
  });
}
