import { DataflexError } from "../../errors.js";
import type { ConfigFile } from "../../mounting/config/load-config.js";
import { configError, locateProblems, problemsOf } from "../../mounting/config/problems.js";

/** A refused mount with the places of its problems in the configuration file; any other error as it is. */
export function locateMountError(error: unknown, config: ConfigFile): unknown {
  const problems = error instanceof DataflexError ? problemsOf(error) : undefined;
  return problems === undefined ? error : configError(locateProblems(problems, config));
}
