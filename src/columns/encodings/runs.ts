import { bytesOf } from "../bytes.js";
import type { RunsColumn } from "../tensor.js";
import { offsetsOf, readI32, readPerRow } from "./integers.js";
import { type DecodeInput, malformed, type Parts } from "./part.js";

/** `runs`: a 0/1 matrix as how many runs of ones each row has, and each run's start and stop. */
export function encodeRuns(mask: RunsColumn): Parts {
  const counts = new Int32Array(mask.rows);
  for (let i = 0; i < mask.rows; i++) counts[i] = mask.offsets[i + 1]! - mask.offsets[i]!;
  return [
    ["counts", bytesOf(counts)],
    ["bounds", bytesOf(mask.bounds)],
  ];
}

/** Runs are ascending, with at least one zero between two of them, so that a mask has only one form. */
export function decodeRuns(input: DecodeInput): RunsColumn {
  const { name, dtype, rows, width, scope } = input;
  const offsets = offsetsOf(name, readPerRow(input, "counts", width));
  const bounds = readI32(input, "bounds", offsets[rows]! * 2);
  for (let row = 0; row < rows; row++) {
    let previous = -1;
    for (let k = offsets[row]!; k < offsets[row + 1]!; k++) {
      const start = bounds[2 * k]!;
      const stop = bounds[2 * k + 1]!;
      if (start <= previous || start >= stop || stop > width) {
        const where = `after ${previous} and within [0, ${width}]`;
        malformed(name, `the run [${start}, ${stop}) in row ${row} is not a range ${where}`, { row });
      }
      previous = stop;
    }
  }
  return { kind: "runs", dtype, scope, rows, width, offsets, bounds };
}
