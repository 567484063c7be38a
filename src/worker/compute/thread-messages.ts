import type { Limits } from "../../columns/limits.js";
import type { ColumnHeader } from "../../columns/tensor.js";
import type { Failure } from "../../errors.js";
import type { PutHeader, ResultHeader } from "../../protocol/messages.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import type { RawState } from "../../protocol/saved-state.js";
import type { TensorUse } from "../../scoring/batch/tensor-backend.js";
import type { ForeignDeclaration } from "../../scoring/components/foreign.js";
import type { Remembered } from "../../scoring/pipeline/outcome.js";
import type { PythonMemory } from "../python/host-messages.js";
import type { PythonState } from "../python/python-slot.js";

/** Where tensors of `batch.tensor` are kept. `auto` is cpu: exact and, for the row forms that most components use, the fastest. */
export const BACKENDS = ["auto", "cpu", "tensorflow", "tensorflow-gpu"] as const;
export type Backend = (typeof BACKENDS)[number];

/** What a compute thread (or child process) is started with. */
export interface ComputeSetup {
  readonly backend: Backend;
  /** Files or packages whose exported components are registered beside the built-ins. */
  readonly plugins: readonly string[];
  /** Components of Python files, which the slot's Python process runs. */
  readonly python: readonly ForeignDeclaration[];
  /** Of what the plugins were when the worker took them up: a thread that finds another one does not start. */
  readonly fingerprint: string;
}

/** Informs a thread of the state of its slot's Python process. */
export interface PythonNews {
  readonly python: PythonState;
}

/** Asks a thread whether it has finished what it did before; it answers once it has. */
export interface Knock {
  readonly knock: number;
}

/** One put's part of a job: its header and the bytes of the columns that the job needs, at their offsets from `base`. */
export interface PutPart {
  readonly header: PutHeader;
  /** Its rows among those of the stage: `[start, stop, …]`. */
  readonly rows: readonly number[];
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
  /** What the pipeline remembers of earlier steps; only for those whose results depend on it. */
  readonly state?: RawState;
}

/** A result header without what the worker adds. */
type ComputedHeader = Omit<ResultHeader, "v" | "producer" | "attempt" | "ranges" | "chunks" | "chunk_bytes">;

export interface Computed {
  readonly header: ComputedHeader;
  readonly body: Uint8Array;
  /** What the step adds to the pipeline's state. */
  readonly remember?: Remembered;
}

export type ComputeReply =
  | { readonly kind: "ready"; readonly backend: string }
  | { readonly kind: "refused"; readonly failure: Failure }
  | ({
      readonly kind: "result";
      readonly id: number;
      /** Tensors that are alive after the job. */
      readonly tensors: TensorUse;
      /** What the Python process held after the last call, if the job made one. */
      readonly memory?: PythonMemory;
    } & Computed)
  /** The answer to a knock. */
  | { readonly kind: "free"; readonly knock: number }
  /** Python has taken over, or has answered. */
  | { readonly kind: "python"; readonly inside: boolean }
  | {
      readonly kind: "failure";
      readonly id: number;
      readonly failure: Failure;
      /** Of what was thrown, where it was a component's: for the log. */
      readonly stack?: string;
    };
