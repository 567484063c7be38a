import { type ChildProcess, spawn } from "node:child_process";
import { basename } from "node:path";
import type { Duplex, Readable } from "node:stream";
import { DataflexError } from "../../errors.js";
import type { Logger } from "../../log.js";
import { BUILT_INS } from "../../scoring/components/catalogue.js";
import { pluginEnv } from "../plugin-env.js";
import { ChildOutput } from "./child-output.js";
import { HOST_PROTOCOL, type HostOptions, type HostPhase, type HostReady } from "./host-messages.js";

export interface PythonOptions {
  /** The interpreter: a path, or a name to look up. */
  readonly python: string;
  /** Absolute files. */
  readonly files: readonly string[];
  readonly device: string;
  /** What this process may allocate, in bytes. */
  readonly memoryBytes?: number;
  /** How long it may take until it is ready. */
  readonly startLimitMs: number;
  readonly env: Readonly<Record<string, string>>;
  readonly log: Logger;
}

/** How long a dump of the threads may take before the process is killed. */
const DUMP_MS = 500;
/** How long the last output of an ended process may take to arrive. */
const CLOSE_MS = 500;
/** How long a process that is asked to stop may take. */
const STOP_MS = 2_000;

/**
 * A Python process that runs components, started by exec from the main thread: started in a compute thread, it would be orphaned with it. It ends with this
 * process, however that ends, together with everything it has started.
 */
export class PythonChild {
  readonly #child: ChildProcess;
  readonly #output: ChildOutput;
  readonly #options: PythonOptions;
  #phase = "starting";
  #stopped = false;
  #killed = false;
  /** Resolves when it is ready; rejects with PLUGIN, BACKEND or INTERNAL when it cannot be. */
  readonly ready: Promise<HostReady>;
  /** Resolves when it has ended, to an error that says how: the error of the current step. */
  readonly ended: Promise<DataflexError>;

  /** @param socket where it listens; null to take its declarations only. */
  constructor(socket: string | null, options: PythonOptions) {
    this.#options = options;
    const { python, files, device, memoryBytes, env, log } = options;
    const argument: HostOptions = {
      parent: process.pid,
      files,
      socket,
      device,
      memory_bytes: memoryBytes ?? null,
      taken: BUILT_INS.map(({ kind, name }) => [kind, name] as const),
    };
    this.#child = spawn(python, ["-m", "dataflex_mq.host", JSON.stringify(argument)], {
      // A process group of its own: what it forks is killed with it, and Ctrl-C in a terminal does not reach it.
      detached: true,
      stdio: ["ignore", "ignore", "pipe", "pipe"],
      env: { ...pluginEnv(), ...env, PYTHONUNBUFFERED: "1", PYTHONUTF8: "1", PYTHONDONTWRITEBYTECODE: "1" },
    });
    const plugin = files.map((file) => basename(file)).join(", ");
    this.#output = new ChildOutput(this.#child.stderr as Readable, (line) => log.info({ plugin }, line));
    const failed = new Promise<string>((resolve) => this.#child.once("error", (error) => resolve(error.message)));
    const closed = new Promise<void>((resolve) => this.#child.once("close", () => resolve()));
    const exited = new Promise<string>((resolve) =>
      this.#child.once("exit", (code, signal) => {
        // Processes that it has forked would keep its pipes open.
        this.#killGroup();
        void within(CLOSE_MS, closed).then(() => resolve(signal ?? `exit ${code}`));
      }),
    );
    this.ended = Promise.race([failed, exited]).then((reason) => this.#death(reason));
    this.ready = this.#awaitReady();
    this.ready.catch(() => {});
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** A call begins: if the process dies during it, only output from now on can explain why. */
  callBegins(): void {
    this.#output.forget();
  }

  /** At a time limit: its threads are dumped into the log, then it is killed with all that it has started. */
  async kill(): Promise<void> {
    this.#killed = true;
    this.#child.kill("SIGTERM");
    await within(DUMP_MS, this.ended);
    this.#killGroup();
    await this.ended;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    (this.#child.stdio[3] as Duplex | null)?.destroy();
    await within(STOP_MS, this.ended);
    this.#killGroup();
    await this.ended;
  }

  #killGroup(): void {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, "SIGKILL");
    } catch {
      // The group is empty.
    }
  }

  async #awaitReady(): Promise<HostReady> {
    const { startLimitMs, python } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const message = `${this.#who()} was not ready within ${startLimitMs} ms (phase: ${this.#phase}); --python-start-ms allows more`;
        reject(new DataflexError("PLUGIN", message, { phase: this.#phase, limit_ms: startLimitMs }));
        void this.kill();
      }, startLimitMs);
    });
    const died = this.ended.then((death) => {
      throw death;
    });
    try {
      const ready = await Promise.race([this.#phases(), late, died]);
      if (ready.protocol === HOST_PROTOCOL) return ready;
      const message =
        `the package dataflex_mq ${ready.package} of ${python} speaks host protocol ${ready.protocol}, this worker ${HOST_PROTOCOL}: ` +
        "install the version of this worker";
      throw new DataflexError("PLUGIN", message, { python, package: ready.package });
    } finally {
      clearTimeout(timer);
      died.catch(() => {});
      late.catch(() => {});
    }
  }

  #phases(): Promise<HostReady> {
    const control = this.#child.stdio[3] as Duplex;
    control.setEncoding("utf8");
    control.on("error", () => {});
    let partial = "";
    return new Promise((resolve, reject) => {
      control.on("data", (text: string) => {
        const lines = (partial + text).split("\n");
        partial = lines.pop()!;
        for (const line of lines) {
          const message = JSON.parse(line) as HostPhase;
          this.#phase = message.phase;
          if (message.phase === "ready") resolve(message);
          if (message.phase === "refused") reject(DataflexError.fromFailure(message.failure));
        }
      });
    });
  }

  #who(): string {
    return `the Python process of ${this.#options.files.map((file) => basename(file)).join(", ")}`;
  }

  #death(reason: string): DataflexError {
    const lines = this.#output.last.slice(-5).join("\n");
    if (this.#stopped) return new DataflexError("COMPUTE_LOST", `${this.#who()} was stopped`);
    if (this.#phase === "ready") {
      const why = this.#killed ? ", at its time limit" : reason === "SIGKILL" ? ", probably out of memory" : "";
      const said = lastWords(this.#output.last);
      const message = `${this.#who()} ended (${reason}${why})`;
      return new DataflexError("COMPUTE_LOST", message, { reason, ...(said !== undefined && { said }) });
    }
    return new DataflexError("PLUGIN", notStarted(this.#options.python, reason, lines), {
      python: this.#options.python,
    });
  }
}

/** Waits for a promise, at most for the given time. */
async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([late, promise]);
  clearTimeout(timer);
}

/** The line that best explains a crash: Python's own, else the last one that is not a frame of a traceback. */
function lastWords(lines: readonly string[]): string | undefined {
  return lines.findLast((line) => line.startsWith("Fatal Python error")) ?? lines.findLast((line) => !/^\s/.test(line));
}

function notStarted(python: string, reason: string, lines: string): string {
  if (reason.includes("ENOENT")) return `the interpreter ${python} is not there: --python PATH or DFX_PYTHON names one`;
  if (reason.includes("EACCES"))
    return `the interpreter ${python} cannot be run: --python PATH or DFX_PYTHON names one`;
  const missing = /No module named '?(dataflex_mq|numpy|msgpack|redis)(?:\.host)?'?\)?$/m.exec(lines)?.[1];
  if (missing !== undefined) {
    return (
      `the interpreter ${python} has no package ${missing}: ${python} -m pip install "dataflex_mq[torch]", ` +
      "or name another one with --python or DFX_PYTHON"
    );
  }
  return `the Python process did not start (${reason})${lines === "" ? "" : `:\n${lines}`}`;
}
