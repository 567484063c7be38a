import { DataflexError } from "../../errors.js";
import { problemsOf, problemText } from "../../mounting/config/problems.js";
import type { Io } from "./io.js";

/** Exit codes of every command. */
export const EXIT = { done: 0, failed: 1, usage: 2, unreachable: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

function exitCodeOf(error: DataflexError): ExitCode {
  return error.exitCode as ExitCode;
}

/**
 * Prints a thrown thing to stderr, `error[CODE] …` for people or one JSON object for programs, and returns its exit code.
 * A stack is shown only with DFX_DEBUG set: for users it would bury the message.
 */
export function reportError(thrown: unknown, io: Io, json: boolean): ExitCode {
  const error = DataflexError.from(thrown);
  if (json) {
    io.err(`${JSON.stringify({ error: error.toFailure() })}\n`);
  } else {
    io.err(`${errorText(error)}\n`);
    if (io.env.DFX_DEBUG && error.stack !== undefined) io.err(`${error.stack}\n`);
  }
  return exitCodeOf(error);
}

/** `error[CODE] message`, continuation lines indented; a configuration's problems one by one, with their places. */
function errorText(error: DataflexError): string {
  const problems = problemsOf(error);
  if (problems === undefined) return `error[${error.code}] ${error.message.replaceAll("\n", "\n  ")}`;
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const where = problems[0]?.file === undefined ? "" : ` in ${problems[0].file}`;
  const blocks = problems.map((problem) => `error[CONFIG] ${problemText(problem)}`);
  return `${blocks.join("\n")}\n${count}${where}. Nothing was started.`;
}
