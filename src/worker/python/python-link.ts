import { createConnection, type Socket } from "node:net";
import { DataflexError } from "../../errors.js";
import { encodeFrame, type Frame, FrameReader } from "./frames.js";
import type { PythonState } from "./python-slot.js";

interface Pending {
  readonly id: number;
  resolve(frame: Frame): void;
  reject(error: DataflexError): void;
}

/** A compute thread's connection to its slot's Python process. One call at a time. */
export class PythonLink {
  readonly #onInside: (inside: boolean) => void;
  #state: PythonState = { kind: "starting" };
  #changed: (() => void)[] = [];
  #socket: Socket | undefined;
  #pending: Pending | undefined;
  #id = 0;

  /** @param onInside called when Python takes over and when it has answered, so that a time limit ends the right process. */
  constructor(onInside: (inside: boolean) => void) {
    this.#onInside = onInside;
  }

  setState(state: PythonState): void {
    this.#state = state;
    if (state.kind !== "up") this.#close();
    for (const wake of this.#changed.splice(0)) wake();
  }

  /**
   * Sends a call once the process is up, and waits for its answer.
   * @throws DataflexError COMPUTE_LOST when the process ends under it or does not start; LIMIT, DECODE.
   */
  async call(header: Readonly<Record<string, unknown>>, bodies: readonly Uint8Array[]): Promise<Frame> {
    const socket = await this.#connected();
    const id = ++this.#id;
    const pieces = encodeFrame({ ...header, id }, bodies);
    this.#onInside(true);
    try {
      return await new Promise<Frame>((resolve, reject) => {
        this.#pending = { id, resolve, reject };
        socket.cork();
        for (const piece of pieces) socket.write(piece);
        socket.uncork();
      });
    } finally {
      this.#pending = undefined;
      this.#onInside(false);
    }
  }

  async #connected(): Promise<Socket> {
    while (this.#state.kind === "starting") await new Promise<void>((resolve) => this.#changed.push(resolve));
    if (this.#state.kind === "down") throw DataflexError.fromFailure(this.#state.failure);
    this.#socket ??= await this.#connect(this.#state.socket);
    return this.#socket;
  }

  #connect(path: string): Promise<Socket> {
    const socket = createConnection(path);
    const reader = new FrameReader();
    socket.on("data", (piece: Uint8Array) => {
      try {
        for (const frame of reader.push(piece)) {
          if (frame.header.id === this.#pending?.id) this.#pending?.resolve(frame);
        }
      } catch (error) {
        this.#pending?.reject(DataflexError.from(error, "DECODE"));
        socket.destroy();
      }
    });
    socket.on("close", () => {
      if (this.#socket === socket) this.#socket = undefined;
      this.#pending?.reject(lost());
    });
    return new Promise((resolve, reject) => {
      socket.once("connect", () => resolve(socket));
      socket.once("error", () => reject(lost()));
      socket.on("error", () => {});
    });
  }

  #close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }
}

/** How the process ended is known where it was started: `python` asks there. */
function lost(): DataflexError {
  return new DataflexError("COMPUTE_LOST", "the Python process ended during the step", { python: "ended" });
}
