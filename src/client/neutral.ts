import { DataflexError, UNAVAILABLE } from "../errors.js";
import type { Handle } from "../protocol/messages.js";

const BRIEFLY_MS = 500;

/** What a put answers: the fields that travelled, the step's attempt, and how the put was taken. */
export interface PutReceipt {
  readonly sent: readonly string[];
  readonly attempt: number;
  readonly kind: "NEW" | "DUPLICATE" | "REPLACED" | "NOTHING_WANTED" | "UNAVAILABLE";
}

/** `on_unavailable: neutral`: steps that train without weights because the service was not there. */
export class NeutralSteps {
  /** How many there were. */
  count = 0;
  readonly #on: boolean;
  readonly #unsent = new Map<string, DataflexError>();
  readonly #trained = new Map<string, DataflexError>();

  constructor(handle: Handle) {
    this.#on = handle.on_unavailable === "neutral";
  }

  covers(error: DataflexError): boolean {
    return this.#on && UNAVAILABLE.has(error.code);
  }

  /** The put's receipt; UNAVAILABLE, and remembered, where its error is covered. */
  async sent(at: string, attempt: number, put: Promise<PutReceipt>): Promise<PutReceipt> {
    try {
      const receipt = await put;
      this.#unsent.delete(at);
      return receipt;
    } catch (thrown) {
      const error = DataflexError.from(thrown);
      if (!this.covers(error)) throw error;
      this.#unsent.set(at, error);
      return { sent: [], attempt, kind: "UNAVAILABLE" };
    }
  }

  /** Throws what kept a put of the step from arriving: its weights need not be waited for. */
  check(at: string): void {
    const error = this.#unsent.get(at);
    if (error) throw error;
  }

  /** The error because of which nothing weighs this step; throws one that is not covered. */
  trained(at: string, thrown: unknown): DataflexError {
    const error = DataflexError.from(thrown);
    if (!this.covers(error)) throw error;
    this.count++;
    this.#trained.set(at, error);
    return error;
  }

  /** How long to try the release of a step: a Redis that was away just now is not waited for once more. */
  patience(at: string, ms: number): number {
    return this.#trained.get(at)?.code === "REDIS_UNREACHABLE" ? BRIEFLY_MS : ms;
  }

  forget(at: string): void {
    this.#unsent.delete(at);
    this.#trained.delete(at);
  }
}
