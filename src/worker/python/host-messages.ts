import type { Failure } from "../../errors.js";
import type { ForeignDeclaration } from "../../scoring/components/foreign.js";

/** Raised whenever frames, calls or phases change: worker and Python package must agree. */
export const HOST_PROTOCOL = 1;

/** The only argument with which a Python process is started. */
export interface HostOptions {
  readonly parent: number;
  readonly files: readonly string[];
  /** Null: it declares its components and ends. */
  readonly socket: string | null;
  readonly device: string;
  readonly memory_bytes: number | null;
  /** Kinds and names of the built-in components. */
  readonly taken: readonly (readonly [kind: string, name: string])[];
}

/** Where a Python process computes. `reason`: why it uses the CPU although there may be a GPU. */
export interface PythonDevice {
  readonly name: string;
  readonly model: string;
  readonly reason: string;
}

export interface HostReady {
  readonly phase: "ready";
  readonly protocol: number;
  readonly package: string;
  readonly python: string;
  readonly torch: string | null;
  readonly device: PythonDevice;
  readonly components: readonly ForeignDeclaration[];
}

/** A line on the control channel. */
export type HostPhase =
  | { readonly phase: "importing" | "setup" }
  | HostReady
  | { readonly phase: "refused"; readonly failure: Failure };

/** Number of a body of the frame, and the type of its elements as NumPy names it. */
export type Reference = readonly [body: number, type: "f4" | "f8" | "i1" | "u1" | "i4"];

/** A column of a call, over its live rows. */
export type CallColumn = { readonly name: string } & (
  | { readonly kind: "strings"; readonly table: readonly string[]; readonly index: Reference }
  | { readonly kind: "runs"; readonly offsets: Reference; readonly bounds: Reference }
  | { readonly kind: "features"; readonly dtype: string; readonly width: number; readonly values: Reference }
  | {
      readonly kind: "vector" | "dense" | "jagged" | "row" | "last" | "sparse";
      /** As posted; `values` may be wider. */
      readonly dtype: string;
      readonly scope?: string;
      readonly values: Reference;
      readonly offsets?: Reference;
      readonly index?: Reference;
      /** Response lengths that a column of scope `response` carries. */
      readonly lengths?: Reference;
    }
);

/** What a process holds in memory, in bytes. */
export interface PythonMemory {
  readonly rss_bytes: number;
  readonly gpu_bytes: number;
}

export interface CallReply {
  readonly id: number;
  readonly bodies: readonly number[];
  readonly memory: PythonMemory;
  readonly failure?: { readonly code: string; readonly message: string; readonly details: Record<string, unknown> };
  readonly form?: "rows" | "tokens" | "kept" | "shares" | "remembered";
  readonly type?: string;
  readonly facts?: readonly (readonly [string, ...number[]])[];
  readonly warnings?: readonly string[];
  readonly metrics?: Readonly<Record<string, number>>;
}
