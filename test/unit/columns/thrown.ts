import { DataflexError } from "../../../src/errors.js";

/** The DataflexError that `run` throws; anything else, or nothing, fails the test. */
export function thrown(run: () => unknown): DataflexError {
  try {
    run();
  } catch (error) {
    if (error instanceof DataflexError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}
