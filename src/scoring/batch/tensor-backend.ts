import type { Tensor, Tensor2D } from "@tensorflow/tfjs-core";
import { DataflexError } from "../../errors.js";

/** The tfjs-core namespace; only the type is imported, the code is loaded when a component first asks for a tensor. */
export type Tf = typeof import("@tensorflow/tfjs-core");

/** What the framework needs of a tensor that a component returns; structural, so that any copy of tfjs fits. */
export interface TensorLike {
  readonly shape: number[];
  data(): Promise<ArrayLike<number>>;
  dispose(): void;
}

/** A backend with a loader of its own (native TensorFlow). `load` returns tfjs-core with that backend set and ready. */
export interface InjectedBackend {
  readonly name: string;
  load(): Promise<Tf>;
}

let selected: "cpu" | InjectedBackend = "cpu";
let loading: Promise<Tf> | undefined;

/** Chooses where `batch.tensor` lives; takes effect at the next tensor scope. Loads nothing yet. */
export function setBackend(backend: "cpu" | InjectedBackend): void {
  if (backend === selected) return;
  selected = backend;
  loading = undefined;
}

/** Name of the chosen backend. */
export function backendName(): string {
  return typeof selected === "string" ? selected : selected.name;
}

/** @throws DataflexError BACKEND when the package is absent or the backend does not start. */
export function loadTensors(): Promise<Tf> {
  loading ??= load(selected).catch((cause: unknown) => {
    loading = undefined;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new DataflexError("BACKEND", `tensor backend '${backendName()}' does not start: ${reason}`, {}, { cause });
  });
  return loading;
}

async function load(backend: "cpu" | InjectedBackend): Promise<Tf> {
  if (backend !== "cpu") return backend.load();
  const tf = await import("@tensorflow/tfjs-core");
  await import("@tensorflow/tfjs-backend-cpu");
  if (!(await tf.setBackend("cpu"))) throw new Error("tfjs refused to make 'cpu' its backend");
  await tf.ready();
  // At its first use it prints an advertisement, which would end up in the worker's log.
  Object.assign(tf.backend(), { firstUse: false });
  return tf;
}

/** Tensors alive now and their bytes; zeros while no component has asked for one. */
export async function tensorUse(): Promise<TensorUse> {
  if (!loading) return { count: 0, bytes: 0 };
  const { numTensors, numBytes } = (await loading).memory();
  return { count: numTensors, bytes: numBytes };
}
export interface TensorUse {
  readonly count: number;
  readonly bytes: number;
}

/** Where tensors may be created, for the duration of one call of one component. */
export interface TensorScope {
  readonly tf: Tf;
  /** A matrix that lives until the scope ends. `values` must be a private copy: the cpu backend does not make one. */
  matrix(values: Float32Array, rows: number, width: number): Tensor2D;
}

/** The result of a scope, and how many tensors the component left behind (they have been disposed). */
export interface Scoped<T> {
  readonly value: T;
  readonly leaked: number;
}

let tail: Promise<unknown> = Promise.resolve();

/**
 * Runs `body` with a tensor scope; everything created in it is disposed at the end, even if it throws. One scope at a time: tfjs keeps a
 * single global stack of scopes, so two interleaved asynchronous calls would dispose each other's tensors.
 * `tidied(result)` says whether tensors left over count as leaks: a synchronous component's intermediates do not (they are what
 * `tf.tidy` exists for), an asynchronous one must dispose its own.
 */
export function withTensorScope<T>(
  body: (scope: TensorScope) => Promise<{ value: T; tidy: boolean }>,
): Promise<Scoped<T>> {
  const turn = tail.then(() => runScope(body));
  tail = turn.catch(() => undefined);
  return turn;
}

async function runScope<T>(body: (scope: TensorScope) => Promise<{ value: T; tidy: boolean }>): Promise<Scoped<T>> {
  const tf = await loadTensors();
  const engine = tf.engine();
  const own: Tensor[] = [];
  const scope: TensorScope = {
    tf,
    matrix(values, rows, width) {
      const made = tf.tensor2d(values, [rows, width], "float32");
      own.push(made);
      return made;
    },
  };
  engine.startScope("component");
  // As long as the scope is open, everything created in it is on this list, `tf.keep` or not.
  const made = engine.state.activeScope.track;
  try {
    const { value, tidy } = await body(scope);
    for (const tensor of own) if (!tensor.isDisposed) tensor.dispose();
    const left = [...new Set(made)].filter((tensor) => !tensor.isDisposed && (!tidy || tensor.kept));
    return { value, leaked: left.length };
  } finally {
    for (const tensor of made) if (!tensor.isDisposed) tensor.dispose();
    engine.endScope();
  }
}

/** Whether a component returned a tensor. */
export function isTensor(value: unknown): value is TensorLike {
  if (typeof value !== "object" || value === null) return false;
  const { shape, data, dispose } = value as Partial<Record<keyof TensorLike, unknown>>;
  return Array.isArray(shape) && typeof data === "function" && typeof dispose === "function";
}
