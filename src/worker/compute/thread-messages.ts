import type { Limits } from "../../columns/limits.js";
import type { ColumnHeader } from "../../columns/tensor.js";
import type { Failure } from "../../errors.js";
import type { PipelineSpec, PutHeader, ResultHeader } from "../../protocol/messages.js";
import type { RawState, StateValue } from "../../protocol/saved-state.js";
import type { TensorUse } from "../../scoring/batch/tensor-backend.js";

/** Where tensors of `batch.tensor` live. `auto` is cpu: exact and, for the row forms that most components use, the fastest. */
export const BACKENDS = ["auto", "cpu", "wasm", "tensorflow", "tensorflow-gpu"] as const;
export type Backend = (typeof BACKENDS)[number];

/** What a compute thread (or child process) is started with. */
export interface ComputeSetup {
  readonly backend: Backend;
  /** Files or packages whose exported components are registered beside the built-ins. */
  readonly plugins: readonly string[];
}

/** One put's part of a job: its header and the bytes of the columns that the job needs, at their offsets from `base`. */
export interface PutPart {
  readonly header: PutHeader;
  /** Columns to decode. */
  readonly columns: readonly ColumnHeader[];
  /** `body[0]` is byte `base` of the put's body. */
  readonly base: number;
  readonly body: Uint8Array;
}

export interface ComputeRequest {
  readonly id: number;
  readonly spec: PipelineSpec;
  readonly run: string;
  readonly step: number;
  readonly trigger: number;
  readonly rows: number;
  readonly limits: Limits;
  readonly puts: readonly PutPart[];
  /** Pipelines with a state only: what earlier steps added to it. */
  readonly state?: RawState;
}

/** What a step adds to its pipeline's state; `by` made it, `steps` is how many steps are kept (absent: the usual). */
export interface Remember {
  readonly by: string;
  readonly values: readonly StateValue[];
  readonly steps?: number;
}

/** A result header before the worker has signed it. */
export type ComputedHeader = Omit<ResultHeader, "v" | "producer" | "attempt" | "chunks" | "chunk_bytes">;

export type ComputeReply =
  | { readonly kind: "ready"; readonly backend: string }
  | { readonly kind: "refused"; readonly failure: Failure }
  | {
      readonly kind: "result";
      readonly id: number;
      readonly header: ComputedHeader;
      readonly body: Uint8Array;
      readonly remember?: Remember;
      /** Tensors that are alive after the job. */
      readonly tensors: TensorUse;
    }
  | { readonly kind: "failure"; readonly id: number; readonly failure: Failure };
