import { DataflexError } from "../../errors.js";

/** A recorded file that cannot be used, as an error to throw: `INVALID_INPUT`, the file's name first. */
export function inputError(
  file: string,
  message: string,
  details: Record<string, unknown> = {},
  cause?: unknown,
): DataflexError {
  return new DataflexError(
    "INVALID_INPUT",
    `${file}: ${message}`,
    { file, ...details },
    cause === undefined ? undefined : { cause },
  );
}
