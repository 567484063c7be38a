import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Language } from "../plan/runs.js";
import { ProcessHandle } from "../world/process-handle.js";
import type { Ask, Reply } from "./protocol.js";

/** A typed error of the client. */
export class Refused extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}
/** The process ended before it answered. */
export class Died extends Error {}
/** No answer, long after every deadline. */
export class Hung extends Error {}

const START_MS = 60_000;
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export interface ProducerOptions {
  readonly url: string;
  readonly python: { readonly interpreter: string; readonly path: string };
  readonly env: Readonly<Record<string, string>>;
}

/** A trainer's process, in either language, asked through its standard input and output. */
export class ProducerProcess extends ProcessHandle {
  readonly language: Language;
  readonly #pending = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  #asked = 0;
  /** Fulfils when it is connected; rejects when it ends before. */
  readonly ready: Promise<unknown>;

  private constructor(language: Language, child: ChildProcess) {
    super(child);
    this.language = language;
    this.ready = this.#answer(0, "its start", START_MS);
    this.ready.catch(() => {});
    createInterface({ input: child.stdout! }).on("line", (line) => this.#receive(JSON.parse(line) as Reply));
    // A pipe to a dead process is reported by its end.
    child.stdin!.on("error", () => {});
    void this.ended.then(() => {
      for (const { reject } of this.#pending.values()) reject(new Died(`the ${language} producer ended`));
      this.#pending.clear();
    });
  }

  static spawn(language: Language, o: ProducerOptions): ProducerProcess {
    const [command, args, env] =
      language === "ts"
        ? ([process.execPath, ["--import", "tsx", here("producer.ts"), o.url], {}] as const)
        : ([o.python.interpreter, [here("producer.py"), o.url], { PYTHONPATH: o.python.path }] as const);
    const child = spawn(command, args, {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, ...o.env, ...env, PYTHONDONTWRITEBYTECODE: "1" },
    });
    return new ProducerProcess(language, child);
  }

  /** Errors: Refused with the client's code, Died, Hung after `limitMs`. */
  ask<T>(request: Ask, limitMs: number): Promise<T> {
    if (!this.alive) return Promise.reject(new Died(`the ${this.language} producer ended`));
    const id = ++this.#asked;
    const answer = this.#answer(id, `${request.op}`, limitMs) as Promise<T>;
    this.child.stdin!.write(`${JSON.stringify({ id, ...request })}\n`);
    return answer;
  }

  async close(limitMs: number): Promise<void> {
    await this.ask({ op: "close" }, limitMs);
    await this.ended;
  }

  #answer(id: number, what: string, limitMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new Hung(`no answer to ${what} from the ${this.language} producer within ${limitMs} ms`));
      }, limitMs);
      const settle =
        <T>(how: (value: T) => void) =>
        (value: T): void => {
          clearTimeout(timer);
          how(value);
        };
      this.#pending.set(id, { resolve: settle(resolve), reject: settle(reject) });
    });
  }

  #receive(reply: Reply): void {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if ("error" in reply) pending?.reject(new Refused(reply.error.code, reply.error.message));
    else pending?.resolve(reply.value);
  }
}
