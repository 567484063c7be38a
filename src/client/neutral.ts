import { defined } from "../defined.js";
import { DataflexError, UNAVAILABLE } from "../errors.js";
import type { Handle } from "../protocol/messages.js";
import type { ReleaseReport } from "../protocol/statistics-messages.js";

const BRIEFLY_MS = 500;

/** What a put returns: the fields that were sent, the step's attempt, and how the put was accepted. */
export interface PutReceipt {
  readonly sent: readonly string[];
  readonly attempt: number;
  readonly kind: "NEW" | "DUPLICATE" | "REPLACED" | "NOTHING_WANTED" | "UNAVAILABLE";
}

/** `on_unavailable: neutral`: steps that train without weights because the service was unavailable. */
export class NeutralSteps {
  /** How many there were. */
  count = 0;
  readonly #on: boolean;
  readonly #unsent = new Map<string, DataflexError>();
  readonly #trained = new Map<string, DataflexError>();
  /** Steps that trained without weights and whose release did not arrive. */
  #unreported = 0;

  constructor(handle: Handle) {
    this.#on = handle.on_unavailable === "neutral";
  }

  covers(error: DataflexError): boolean {
    return this.#on && UNAVAILABLE.has(error.code);
  }

  /** The put's receipt; where its error is covered, UNAVAILABLE, and the error is remembered. */
  async sent(stepKey: string, attempt: number, put: Promise<PutReceipt>): Promise<PutReceipt> {
    try {
      const receipt = await put;
      this.#unsent.delete(stepKey);
      return receipt;
    } catch (thrown) {
      const error = DataflexError.from(thrown);
      if (!this.covers(error)) throw error;
      this.#unsent.set(stepKey, error);
      return { sent: [], attempt, kind: "UNAVAILABLE" };
    }
  }

  /** Throws the error that kept a put of the step from arriving: waiting for its weights would be pointless. */
  check(stepKey: string): void {
    const error = this.#unsent.get(stepKey);
    if (error) throw error;
  }

  /** Counts a step that trains without weights and returns the reason; throws an error that is not covered. */
  trained(stepKey: string, thrown: unknown): DataflexError {
    const error = DataflexError.from(thrown);
    if (!this.covers(error)) throw error;
    this.count++;
    this.#trained.set(stepKey, error);
    return error;
  }

  /** The step got its weights after all. */
  weighed(stepKey: string): void {
    this.#trained.delete(stepKey);
  }

  /** How long to try to release a step: only briefly after Redis was unreachable for its weights. */
  patience(stepKey: string, ms: number): number {
    return this.#trained.get(stepKey)?.code.startsWith("REDIS_") ? BRIEFLY_MS : ms;
  }

  /** A release's report, with the steps without weights: this one, and those whose own release was lost. */
  report(stepKey: string, report: ReleaseReport | undefined): ReleaseReport | undefined {
    const neutral = this.#trained.get(stepKey)?.code;
    if (!report && !neutral) return undefined;
    return { wait_ms: 0, ...report, ...defined({ neutral, unreported: this.#unreported || undefined }) };
  }

  /** The step's release ended: `arrived`, or without an answer. */
  released(stepKey: string, arrived: boolean): void {
    if (arrived) this.#unreported = 0;
    else if (this.#trained.has(stepKey)) this.#unreported++;
    this.#unsent.delete(stepKey);
    this.#trained.delete(stepKey);
  }
}
