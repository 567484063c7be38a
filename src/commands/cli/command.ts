import { type Command, InvalidArgumentError } from "commander";
import { optionsOf } from "../services/service-options.js";
import type { ExitCode } from "./exit.js";
import type { Io } from "./io.js";

export interface CommandDeps {
  readonly io: Io;
  /** For a command that has printed its own verdict; thrown errors set the code automatically. */
  setExit(code: ExitCode): void;
}

/** Adds one command to the program. Heavy modules are imported inside its action, so that other commands do not have to load them. */
export type Register = (program: Command, deps: CommandDeps) => void;

export interface CommandText {
  /** One line, for the list of commands. */
  readonly summary: string;
  readonly description: string;
  /** Example command lines, each with what it does. */
  readonly examples: readonly (readonly [line: string, does: string])[];
}

/** For options whose value is a name: `--adv-estimator "$UNSET"` is a mistake, no name. */
export function notEmpty(text: string): string {
  if (text.trim() !== "") return text;
  throw new InvalidArgumentError("expected a name");
}

/**
 * A subcommand with `--json`, the shared options that list it, its description and its examples. `usage` is commander's:
 * `check <config>`.
 */
export function addCommand(program: Command, usage: string, text: CommandText): Command {
  const width = Math.max(...text.examples.map(([line]) => line.length));
  const examples = text.examples.map(([line, does]) => `  ${line.padEnd(width)}   ${does}`).join("\n");
  const command = program
    .command(usage)
    .summary(text.summary)
    .description(text.description)
    .option("--json", "print one JSON document for programs")
    .addHelpText("after", `\nExamples:\n${examples}`);
  for (const [flags, help] of optionsOf(command.name())) command.option(flags, help);
  return command;
}
