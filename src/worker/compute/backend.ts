import { DataflexError } from "../../errors.js";
import type { InjectedBackend, Tf } from "../../scoring/batch/tensor-backend.js";
import { BACKENDS, type Backend } from "./thread-messages.js";

export interface OpenBackend {
  readonly name: string;
  readonly use: "cpu" | InjectedBackend;
}

/** The device on which a backend of that name computes. */
export const deviceOf = (backend: string): "gpu" | "cpu" => (backend === "tensorflow-gpu" ? "gpu" : "cpu");

/** The optional peers that hold libtensorflow; their own installers download it, so nothing here depends on them. */
const NATIVE_PACKAGES = { tensorflow: "@tensorflow/tfjs-node", "tensorflow-gpu": "@tensorflow/tfjs-node-gpu" } as const;

/** @throws DataflexError USAGE for a name that is no backend. */
export function checkBackend(name: string): Backend {
  if ((BACKENDS as readonly string[]).includes(name)) return name as Backend;
  const gone = name === "wasm" ? ": its sums over large matrices are wrong, and it was slower than cpu" : "";
  throw new DataflexError("USAGE", `backend "${name}" is none of ${BACKENDS.join(", ")}${gone}`, { backend: name });
}

/**
 * Opens what `--backend` asked for, or refuses: a worker asked for a GPU never silently runs on the CPU. A native backend is tested
 * with one real operation, since some versions load and then fail at the first one.
 *
 * @throws DataflexError USAGE as `checkBackend`; BACKEND with the reason and what to install.
 */
export async function openBackend(asked: Backend): Promise<OpenBackend> {
  checkBackend(asked);
  if (asked === "auto" || asked === "cpu") return { name: "cpu", use: "cpu" };
  const tf = await openNative(asked);
  return { name: asked, use: { name: asked, load: async () => tf } };
}

async function openNative(asked: "tensorflow" | "tensorflow-gpu"): Promise<Tf> {
  const name = NATIVE_PACKAGES[asked];
  const refuse = (reason: string, cause?: unknown): DataflexError =>
    new DataflexError(
      "BACKEND",
      `backend ${asked} was asked for and cannot be used: ${reason}`,
      { backend: asked, package: name },
      { cause },
    );
  let tf: Tf;
  try {
    tf = (await import(name)) as Tf;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw refuse(
      `package ${name} does not load (${reason}). Install it beside dataflex-mq (Node 20 or 22; it downloads libtensorflow): npm install ${name}`,
      cause,
    );
  }
  try {
    const one = tf.tidy(() => tf.sum(tf.tensor1d([1, 2, 3])).dataSync()[0]);
    if (one !== 6) throw new Error(`sum of 1, 2, 3 came out as ${one}`);
  } catch (cause) {
    throw refuse(`its first operation failed (${cause instanceof Error ? cause.message : String(cause)})`, cause);
  }
  if (asked === "tensorflow-gpu" && !usesGpu(tf))
    throw refuse("it finds no GPU (it wants CUDA 11.2-era libraries and a driver)");
  return tf;
}

/** tfjs-node-gpu silently falls back to the CPU; its binding says which device it uses. */
function usesGpu(tf: Tf): boolean {
  const backend = tf.backend() as { isUsingGpuDevice?: boolean; isGPUPackage?: boolean };
  return backend.isGPUPackage === true && backend.isUsingGpuDevice === true;
}
