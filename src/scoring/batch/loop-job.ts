import type { Spans } from "../../columns/spans.js";
import type { Frame } from "./frame.js";
import type { Program } from "./kernel.js";

export type Reduction = "sum" | "mean" | "min" | "max" | "last";
/** Where a writer puts a token: row after row, or at its place in a matrix `rows × width`. */
export type Placement = "jagged" | "dense";

/** A compiled expression and where it is to run. */
export interface LoopJob {
  readonly program: Program;
  readonly frame: Frame;
  readonly spans: Spans;
  /** Whether to watch every read for NaN and infinities. */
  readonly guard: boolean;
}

/** Runs over rows `[from, to)` and returns those of the live ones in which something not finite was read. */
export type RowLoop = (from: number, to: number) => number[];
