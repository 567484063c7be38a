import { rmSync } from "node:fs";
import { join } from "node:path";
import { DataflexError, type Failure } from "../../errors.js";
import { canonicalJson } from "../../mounting/catalogue/fingerprint.js";
import { changedText } from "../changed-text.js";
import type { HostReady, PythonDevice } from "./host-messages.js";
import { PythonChild, type PythonOptions } from "./python-child.js";

/** What a compute thread knows of its slot's Python process. */
export type PythonState =
  | { readonly kind: "starting" }
  | { readonly kind: "up"; readonly socket: string }
  | { readonly kind: "down"; readonly failure: Failure };

/** A process that lived this long was healthy: the next one is started at once. */
const SOUND_MS = 10_000;
const FIRST_DELAY_MS = 500;
/** After a death under a job: that job is given up after a few retries, and others wait. */
const AFTER_DEATH_MS = 2_000;
/** After a failed start, which the next one is likely to repeat. */
const AFTER_FAILURE_MS = 30_000;

export interface SlotOptions extends PythonOptions {
  /** Folder of its sockets, private to this user. */
  readonly folder: string;
  readonly slot: number;
  /** The one GPU that it may see. */
  readonly visible: string | undefined;
}

/** The Python process of one slot: started again when it ends, later each time that it does not live long. */
export class PythonSlot {
  readonly #options: SlotOptions;
  #child: PythonChild | undefined;
  #first: HostReady | undefined;
  #state: PythonState = { kind: "starting" };
  readonly #listeners = new Set<(state: PythonState) => void>();
  #device: PythonDevice = { name: "cpu", model: "", reason: "" };
  #starts = 0;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #death: Promise<DataflexError> | undefined;

  constructor(options: SlotOptions) {
    this.#options = options;
  }

  get state(): PythonState {
    return this.#state;
  }
  get pid(): number | undefined {
    return this.#child?.pid;
  }
  /** Where its process computes; of one that is down, where the last one did. */
  get device(): PythonDevice {
    return this.#device;
  }
  get visible(): string | undefined {
    return this.#options.visible;
  }
  /** Why it is down, if it is. */
  get why(): string | undefined {
    return this.#state.kind === "down" ? this.#state.failure.message : undefined;
  }
  /** Whether a step could be scored now. */
  get isUp(): boolean {
    return this.#state.kind === "up";
  }
  /** Times that the process was started again. */
  get restarts(): number {
    return Math.max(0, this.#starts - 1);
  }

  /** `listener` is called with the state, now and whenever it changes. */
  onState(listener: (state: PythonState) => void): void {
    this.#listeners.add(listener);
    listener(this.#state);
  }

  /**
   * Waits for a process that is starting.
   * @throws DataflexError COMPUTE_LOST when it does not start, or not in time: another worker may have one.
   */
  async available(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    let listener: (state: PythonState) => void = () => {};
    const state = await new Promise<PythonState>((resolve) => {
      timer = setTimeout(() => resolve(this.#state), ms);
      listener = (state) => state.kind !== "starting" && resolve(state);
      this.onState(listener);
    });
    clearTimeout(timer);
    this.#listeners.delete(listener);
    if (state.kind === "down") throw DataflexError.fromFailure(state.failure);
    if (state.kind === "up") return;
    throw new DataflexError(
      "COMPUTE_LOST",
      `the Python process of this worker was not ready within ${Math.round(ms)} ms`,
    );
  }

  /** A call begins. */
  callBegins(): void {
    this.#child?.callBegins();
  }

  /** The first start. @throws DataflexError PLUGIN, BACKEND: what keeps it from starting would keep every later one. */
  async start(): Promise<HostReady> {
    const ready = await this.#open();
    this.#first = ready;
    return ready;
  }

  /** At a time limit. The next process is started automatically. */
  async kill(): Promise<void> {
    await this.#child?.kill();
  }

  /** How the process that took a call with it has ended. */
  async death(): Promise<DataflexError> {
    return (await this.#death) ?? new DataflexError("COMPUTE_LOST", "the Python process closed its connection");
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#child?.stop();
  }

  async #open(): Promise<HostReady> {
    const socket = join(this.#options.folder, `${this.#options.slot}-${this.#starts++}`);
    const started = performance.now();
    const child = new PythonChild(socket, this.#options);
    this.#child = child;
    this.#set({ kind: "starting" });
    const ready = await child.ready;
    this.#refuseOthers(ready, child);
    this.#death = child.ended;
    this.#device = ready.device;
    this.#set({ kind: "up", socket });
    void child.ended.then((death) => {
      rmSync(socket, { force: true });
      if (this.#stopped) return;
      this.#options.log.warn({ err: death.message }, "the Python process ended");
      this.#failures = performance.now() - started >= SOUND_MS ? 0 : this.#failures + 1;
      this.#restart(AFTER_DEATH_MS);
    });
    return ready;
  }

  /** A file that was changed meanwhile would be another component under a known name. */
  #refuseOthers(ready: HostReady, child: PythonChild): void {
    if (this.#first === undefined || sameComponents(this.#first, ready)) return;
    void child.stop();
    throw new DataflexError("PLUGIN", changedText(this.#options.files.join(", ")), { files: this.#options.files });
  }

  #restart(longestMs: number): void {
    const delay = Math.min(longestMs, FIRST_DELAY_MS * 2 ** (this.#failures - 1)) * (0.5 + Math.random());
    this.#set({ kind: "starting" });
    this.#timer = setTimeout(
      () => {
        this.#open().catch((error: unknown) => this.#failed(DataflexError.from(error, "PLUGIN")));
      },
      this.#failures === 0 ? 0 : delay,
    );
  }

  #failed(error: DataflexError): void {
    if (this.#stopped) return;
    this.#options.log.error({ code: error.code, err: error.message }, "the Python process does not start");
    this.#failures++;
    this.#restart(AFTER_FAILURE_MS);
    // Another worker may be able to: a step is tried again.
    const message = `the Python process of this worker does not start: ${error.message}`;
    this.#set({ kind: "down", failure: new DataflexError("COMPUTE_LOST", message).toFailure() });
  }

  #set(state: PythonState): void {
    this.#state = state;
    for (const listener of [...this.#listeners]) listener(state);
  }
}

/** Whether two starts declare the same, source texts included. */
export function sameComponents(a: HostReady, b: HostReady): boolean {
  return canonicalJson(a.components) === canonicalJson(b.components);
}
