import { type ChildProcess, fork } from "node:child_process";
import { totalmem } from "node:os";
import { Worker as Thread } from "node:worker_threads";
import { DataflexError } from "../../errors.js";
import { within } from "../../lifecycle.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import { shownText } from "../../redact.js";
import type { TensorUse } from "../../scoring/batch/tensor-backend.js";
import { describeThrown, thrownText } from "../../scoring/components/thrown-at.js";
import { pluginEnv } from "../plugin-env.js";
import { ChildOutput } from "../python/child-output.js";
import type { PythonMemory } from "../python/host-messages.js";
import type { PythonSlot } from "../python/python-slot.js";
import { boundStack } from "./bounded-failure.js";
import type { Computed, ComputeReply, ComputeRequest, ComputeSetup, Knock, PythonNews } from "./thread-messages.js";

/** Native TensorFlow does not survive a second thread of its process, so it gets a child process. */
const NATIVE = new Set(["tensorflow", "tensorflow-gpu"]);

/** How long a job waits for a Python process that is starting again, before another worker may try. */
const PYTHON_WAIT_MS = 30_000;

/** How long a thread may take to start: a plugin may load a model, but one that hangs must not occupy the slot for ever. */
const START_MS = 60_000;

/** How long a thread may stay busy with a job after returning its outcome before it is replaced. */
const FREE_MS = 2_000;

/** A thread or a child process. */
interface Channel {
  post(message: unknown, transfer: ArrayBuffer[]): void;
  onMessage(listener: (reply: ComputeReply) => void): void;
  /** `cause`: the error that ended it, if there was one. */
  onExit(listener: (code: number | null, cause?: Error) => void): void;
  kill(): Promise<unknown>;
}

/**
 * Runs one job at a time off the thread that owns job locks, HTTP and metrics. A job past its time limit is ended with its thread;
 * a new thread takes the next. Errors of `run`: whatever the job's components raise (COMPONENT, NON_FINITE …), COMPUTE_TIMEOUT, and
 * COMPUTE_LOST when the thread died under it.
 */
export class ComputeHost {
  readonly #setup: ComputeSetup;
  #channel: Channel | undefined;
  #starting: Promise<string> | undefined;
  #pending: { id: number; resolve: (c: Computed) => void; reject: (e: Error) => void } | undefined;
  /** Components of the job that runs or ran last: they are blamed if the thread ends unasked. */
  #last: PipelineSpec | undefined;
  #id = 0;
  #stopped = false;
  #startFailed = false;
  /** Takes the answer to the knock at hand; none will come of a thread that has ended. */
  #freed: ((knock: number | undefined) => void) | undefined;
  /** Tensors alive in the thread after its last job. */
  tensors: TensorUse = { count: 0, bytes: 0 };

  /** Memory of the slot's Python process after its last call. */
  memory: PythonMemory = { rss_bytes: 0, gpu_bytes: 0 };
  readonly #python: PythonSlot | undefined;
  readonly #startMs: number;
  /** Whether Python is working on the current job, so that a time limit has to end Python. */
  #inside = false;

  /** @param python the slot's Python process, if the setup has Python components. */
  constructor(setup: ComputeSetup, python?: PythonSlot, startMs = START_MS) {
    this.#setup = setup;
    this.#startMs = startMs;
    this.#python = python;
    python?.onState((state) => this.#channel?.post({ python: state } satisfies PythonNews, []));
  }

  /** False after the thread failed to start, until a later start succeeds: each job tries again. */
  get isUp(): boolean {
    return !this.#startFailed;
  }

  /** Whether the slot's Python process is there, or none is wanted. */
  get pythonIsUp(): boolean {
    return this.#python?.isUp ?? true;
  }

  /** Returns the backend in use. Errors: BACKEND, PLUGIN, as reported by the thread; COMPUTE_LOST if it ended or hung instead. */
  start(): Promise<string> {
    this.#starting ??= this.#begin();
    return this.#starting;
  }

  async #begin(): Promise<string> {
    try {
      const backend = await within(this.#startMs, this.#open(), () => {
        throw new DataflexError(
          "COMPUTE_LOST",
          `the compute thread did not start within ${this.#startMs} ms: a plugin hangs while it loads`,
        );
      });
      this.#startFailed = false;
      return backend;
    } catch (error) {
      this.#startFailed = true;
      void this.#restart();
      throw error;
    }
  }

  /** Replaces a thread that is still busy with the previous job, whose outcome it has returned: the next job must not suffer for it. */
  async #free(): Promise<void> {
    const knock = ++this.#id;
    const free = new Promise<boolean>((resolve) => {
      this.#freed = (answered) => resolve(answered === knock);
      this.#channel?.post({ knock } satisfies Knock, []);
    });
    if (await within(FREE_MS, free, () => false)) return;
    const after = this.#last ? ` after ${partsOf(this.#last)}` : "";
    process.stderr.write(
      `the compute thread did not let go${after} and was replaced; the next job runs on a new one\n`,
    );
    await this.#restart();
    await this.start();
  }

  /** @param leftMs time left until the step's deadline: how long a job may wait for a Python process that is restarting. */
  async run(request: Omit<ComputeRequest, "id">, computeMs: number, leftMs = computeMs): Promise<Computed> {
    const begun = performance.now();
    await within(leftMs, this.start().catch(elsewhere), () => {
      throw new DataflexError(
        "COMPUTE_LOST",
        `no compute thread started within the ${Math.round(leftMs)} ms that the step had left`,
      );
    });
    await this.#free();
    if (this.#usesPython(request.spec)) await this.#python?.available(Math.min(leftMs, PYTHON_WAIT_MS));
    const limitMs = Math.round(Math.min(computeMs, Math.max(1, leftMs - (performance.now() - begun))));
    const id = ++this.#id;
    const computed = new Promise<Computed>((resolve, reject) => {
      this.#pending = { id, resolve, reject };
      this.#last = request.spec;
      this.#channel?.post(
        { ...request, id },
        request.puts.map((p) => p.body.buffer as ArrayBuffer),
      );
    });
    try {
      return await within(limitMs, computed, () => {
        if (this.#inside) void this.#python?.kill();
        else void this.#restart();
        const message = `scoring took longer than ${limitMs} ms and was stopped (${partsOf(request.spec)})`;
        throw new DataflexError("COMPUTE_TIMEOUT", message, { limit_ms: limitMs });
      });
    } finally {
      this.#pending = undefined;
    }
  }

  #usesPython({ scorer, actuator }: PipelineSpec): boolean {
    return this.#setup.python.some(({ name }) => name === scorer?.name || name === actuator.name);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#channel?.kill();
  }

  async #restart(): Promise<void> {
    const old = this.#channel;
    this.#channel = undefined;
    this.#starting = undefined;
    await old?.kill();
  }

  #open(): Promise<string> {
    const channel = NATIVE.has(this.#setup.backend) ? childChannel(this.#setup) : threadChannel(this.#setup);
    this.#channel = channel;
    this.#inside = false;
    return new Promise((resolve, reject) => {
      channel.onMessage((reply) => {
        if (reply.kind === "ready") {
          if (this.#python) channel.post({ python: this.#python.state } satisfies PythonNews, []);
          resolve(reply.backend);
        } else if (reply.kind === "free") this.#freed?.(reply.knock);
        else if (reply.kind === "python") this.#entered(reply.inside);
        else if (reply.kind === "refused") reject(DataflexError.fromFailure(reply.failure));
        else this.#answer(reply);
      });
      channel.onExit((code, cause) => {
        const lost = this.#lost(code, cause);
        reject(lost);
        this.#freed?.(undefined);
        if (this.#channel !== channel) return;
        this.#channel = undefined;
        this.#starting = undefined;
        if (this.#stopped) return;
        if (this.#pending) this.#pending.reject(lost);
        // A job that has its result by then keeps it, but the component's author should know.
        else process.stderr.write(shownText(`${lost.message}\n`));
      });
    });
  }

  #lost(code: number | null, cause: Error | undefined): DataflexError {
    const what = `the compute ${NATIVE.has(this.#setup.backend) ? "process" : "thread"}`;
    const how = cause === undefined ? `exit ${code}` : `it raised ${thrownText(describeThrown(cause))}`;
    const when = this.#last === undefined ? "at its start" : this.#pending ? "under" : "after";
    const which = this.#last === undefined ? "" : ` ${partsOf(this.#last)}`;
    if ((cause as NodeJS.ErrnoException | undefined)?.code === "ERR_WORKER_OUT_OF_MEMORY") {
      const message = `${what} ran out of memory ${when}${which}: its objects may take ${heapMb()} MiB. Make steps smaller, or components thriftier`;
      return new DataflexError("OUT_OF_MEMORY", message, { heap_mb: heapMb() }, { cause });
    }
    return new DataflexError("COMPUTE_LOST", `${what} ended ${when}${which} (${how})`, { code }, { cause });
  }

  #entered(inside: boolean): void {
    this.#inside = inside;
    if (inside) this.#python?.callBegins();
  }

  #answer(reply: Extract<ComputeReply, { id: number }>): void {
    const pending = this.#pending;
    if (!pending || pending.id !== reply.id) return;
    if (reply.kind === "result") {
      this.tensors = reply.tensors;
      if (reply.memory) this.memory = reply.memory;
      pending.resolve(reply);
    } else if (reply.failure.details.python === "ended" && this.#python) {
      void this.#python.death().then((death) => {
        const said = death.details.said === undefined ? "" : `; it last said: ${death.details.said}`;
        const message = `${death.message} while it ran ${partsOf(this.#last!)}${said}`;
        pending.reject(DataflexError.fromFailure({ ...death.toFailure(), message }, death));
      });
    } else pending.reject(DataflexError.fromFailure(reply.failure, thrownThere(reply.stack)));
  }
}

/** What keeps this worker's thread from starting need not keep another's: the step is tried again. */
function elsewhere(thrown: unknown): never {
  const error = DataflexError.from(thrown);
  if (error.retryable) throw error;
  const message = `the compute thread of this worker does not start: ${error.message}`;
  throw new DataflexError("COMPUTE_LOST", message, error.details, { cause: error });
}

/** What a component threw in its thread: its stack is all that is left of it. */
function thrownThere(stack: string | undefined): Error | undefined {
  if (stack === undefined) return undefined;
  const thrown = new Error(stack.split("\n", 1)[0]);
  thrown.stack = stack;
  return thrown;
}

function partsOf({ name, scorer, actuator }: PipelineSpec): string {
  const parts = [...(scorer ? [`scorer "${scorer.name}"`] : []), `actuator "${actuator.name}"`];
  return `pipeline "${name}", ${parts.join(", ")}`;
}

/** Half of what the process may have (a container's limit counts), so that one thread cannot end it; tensors lie outside of it. */
function heapMb(): number {
  const constrained = process.constrainedMemory?.() ?? 0;
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.max(256, Math.min(4_096, Math.floor(memory / 2 ** 21)));
}

/** Beside this file in the built package: threads and processes run the build, never the sources. */
const ENTRY = new URL("./thread-entry.js", import.meta.url);

function threadChannel(setup: ComputeSetup): Channel {
  // stdout is for results, not for what a component prints.
  const resourceLimits = { maxOldGenerationSizeMb: heapMb() };
  const streams = { stdout: true, stderr: true };
  const thread = new Thread(ENTRY, { workerData: setup, ...streams, env: pluginEnv(), resourceLimits });
  for (const stream of [thread.stdout, thread.stderr])
    new ChildOutput(stream, (line) => process.stderr.write(`${shownText(line)}\n`));
  let cause: Error | undefined;
  // An error ends the thread; "exit" follows.
  thread.on("error", (thrown) => {
    cause = thrown instanceof Error ? thrown : new Error(String(thrown));
    process.stderr.write(shownText(`compute thread: ${boundStack(cause.stack ?? String(cause))}\n`));
  });
  return {
    post: (message, transfer) => thread.postMessage(message, [...new Set(transfer)]),
    onMessage: (listener) => void thread.on("message", listener),
    onExit: (listener) => void thread.on("exit", (code) => listener(code, cause)),
    kill: () => thread.terminate(),
  };
}

function childChannel(setup: ComputeSetup): Channel {
  const child: ChildProcess = fork(ENTRY, [JSON.stringify(setup)], {
    serialization: "advanced",
    stdio: ["ignore", process.stderr.fd, "inherit", "ipc"],
    env: pluginEnv(),
  });
  return {
    post: (message) => void child.send(message as object),
    onMessage: (listener) => void child.on("message", (m) => listener(m as ComputeReply)),
    onExit: (listener) => void child.on("exit", listener),
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await gone;
    },
  };
}
