import { DataflexError } from "../../errors.js";
import type { Problem } from "../../protocol/mount-messages.js";

/** Message and suggestion share a line up to this length. */
const MAX_LINE = 140;
/** Far longer than any of our sentences. */
const MAX_TEXT = 2000;

/** As many as anyone reads; a block may hold hundreds of thousands of wrong keys. */
export const MOST_PROBLEMS = 100;
/** Names may be as long as the block. */
const MAX_NAME = 200;

/** A place in a text, counted from 1. */
export interface Place {
  readonly line: number;
  readonly col: number;
}

/** A problem with the place in the file that it came from. */
export interface LocatedProblem extends Problem {
  readonly file?: string;
  readonly line?: number;
  readonly col?: number;
}

/** `dataflex.scorer.params.temprature`, `dataflex.clip[1]`. */
export function pathText(path: Problem["path"]): string {
  return path.map((part, i) => (typeof part === "number" ? `[${part}]` : `${i === 0 ? "" : "."}${part}`)).join("");
}

/** Problems as they may leave: a bounded number, each of bounded length, the others counted. */
export function boundProblems(problems: readonly Problem[]): Problem[] {
  const shown = problems.slice(0, MOST_PROBLEMS).map(({ path, message, suggestion }) => ({
    path: path.map((part) => (typeof part === "string" ? cut(part, MAX_NAME) : part)),
    message: cut(message, MAX_TEXT),
    ...(suggestion === undefined ? {} : { suggestion: cut(suggestion, MAX_TEXT) }),
  }));
  const more = problems.length - shown.length;
  const rest = { path: shown[0]?.path.slice(0, 1) ?? [], message: `and ${more} or more other problems: these first` };
  return more > 0 ? [...shown, rest] : shown;
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most / 2)} … ${text.slice(-most / 2)}`;
}

/** The file that a configuration was read from. */
export interface ProblemSource {
  readonly file: string;
  locate(path: Problem["path"]): Place | undefined;
}

/** Adds file, line and column to problems. */
export function locateProblems(problems: readonly Problem[], source: ProblemSource): LocatedProblem[] {
  return problems.map((problem) => ({ ...problem, file: source.file, ...(source.locate(problem.path) ?? {}) }));
}

/** A name from the file may contain anything: a terminal would execute control characters, and a megabyte would hide the message. */
function printable(text: string): string {
  const safe = text.replace(/\p{Cc}/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return cut(safe, MAX_TEXT);
}

/**
 * One problem for people: `config.yaml:9:17  dataflex.actuator.params.temprature`, then the message and the suggestion,
 * indented. Without a file, the path alone.
 */
export function problemText(problem: LocatedProblem): string {
  const place = problem.line === undefined ? problem.file : `${problem.file}:${problem.line}:${problem.col}`;
  const head = printable([place, pathText(problem.path)].filter(Boolean).join("  "));
  const message = printable(problem.message);
  if (problem.suggestion === undefined) return `${head}\n  ${message}`;
  const suggestion = printable(problem.suggestion);
  const line = `${message}; ${suggestion}`;
  return `${head}\n  ${line.length <= MAX_LINE ? line : `${message}\n  ${suggestion}`}`;
}

/**
 * All problems as one error, for callers that cannot continue: CONFIG, with every problem in `details.problems`.
 * Commands print each one; elsewhere the message carries them all.
 */
export function configError(problems: readonly LocatedProblem[]): DataflexError {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const file = problems[0]?.file;
  const head = `${count} in ${file ?? "the dataflex block"}`;
  return new DataflexError("CONFIG", `${head}\n${problems.map(problemText).join("\n")}`, { problems });
}

/** The problems that `configError` packed, or undefined for any other error. */
export function problemsOf(error: DataflexError): readonly LocatedProblem[] | undefined {
  const { problems } = error.details;
  return error.code === "CONFIG" && Array.isArray(problems) ? (problems as LocatedProblem[]) : undefined;
}

/** A refused mount with the places of its problems in the configuration's file; any other error as it is. */
export function locateMountError(error: unknown, source: ProblemSource): unknown {
  const problems = error instanceof DataflexError ? problemsOf(error) : undefined;
  return problems === undefined ? error : configError(locateProblems(problems, source));
}
