import { DataflexError } from "../../errors.js";
import type { DType } from "../dtypes.js";
import type { Limits } from "../limits.js";
import type { Encoding, Scope } from "../tensor.js";

/** The parts of one encoded column, in their order in the body. */
export type Parts = readonly (readonly [name: string, bytes: Uint8Array])[];

/** What a decoder of one encoding gets: a checked header and its parts. */
export interface DecodeInput {
  readonly name: string;
  readonly enc: Encoding;
  readonly dtype: DType;
  readonly rows: number;
  /** 0 for vectors and strings. */
  readonly width: number;
  readonly matrix: boolean;
  /** A matrix of features: its width is its own, and it has no scope. */
  readonly features: boolean;
  readonly scope: Scope;
  readonly distinct: number;
  readonly limits: Limits;
  has(part: string): boolean;
  part(part: string): Uint8Array;
}

/** @throws DataflexError DECODE naming the field */
export function malformed(field: string, why: string, details: Record<string, unknown> = {}): never {
  throw new DataflexError("DECODE", `Column "${field}" is malformed: ${why}.`, { field, ...details });
}

/** Bytes of a part, which must be exactly `expected`. */
export function exactPart(input: DecodeInput, part: string, expected: number): Uint8Array {
  const bytes = input.part(part);
  if (bytes.length !== expected) {
    malformed(input.name, `part "${part}" has ${bytes.length} bytes, ${input.enc} of this shape needs ${expected}`, {
      part,
    });
  }
  return bytes;
}
