import type { PreparedPut } from "./prepare.js";
import type { KeyTable } from "./rows.js";

/** A put that was acknowledged: enough to put it again if Redis loses it. */
export interface KeptPut {
  readonly put: PreparedPut;
  readonly table: KeyTable | undefined;
  /** Attempt of the step that its receipt named. */
  attempt: number;
  /** performance.now when its stream's TTL was last set. */
  renewed: number;
}

/** Maximum size of all copies of one producer's puts together. */
const MAX_KEPT_BYTES = 1 << 30;

/** Copies of puts by step. */
export class KeptPuts {
  readonly #steps = new Map<string, { readonly puts: Map<string, KeptPut>; settled: boolean }>();
  readonly #most: number;
  #bytes = 0;
  /** Number of copies that were dropped because all together had become too large. */
  dropped = 0;

  constructor(most = MAX_KEPT_BYTES) {
    this.#most = most;
  }

  of(step: string): readonly KeptPut[] {
    return [...(this.#steps.get(step)?.puts.values() ?? [])];
  }

  keep(step: string, put: PreparedPut, table: KeyTable | undefined, attempt: number): void {
    const open = this.#steps.get(step) ?? { puts: new Map(), settled: false };
    this.#steps.set(step, open);
    open.settled = false;
    // Chunks may be views of the trainer's arrays, which it may reuse for the next step once its put is answered.
    const own = { ...put, chunks: put.chunks.map((chunk) => chunk.slice()) };
    this.#bytes += put.header.bytes - (open.puts.get(nameOf(put))?.put.header.bytes ?? 0);
    open.puts.set(nameOf(put), { put: own, table, attempt, renewed: performance.now() });
    this.#fit(step);
  }

  /** Whether every pipeline of the step has its outcome: such a step loses its copies first. */
  settled(step: string, settled: boolean): void {
    const open = this.#steps.get(step);
    if (open) open.settled = settled;
  }

  /** Drops this copy; one that was made since stays. */
  drop(step: string, kept: KeptPut): void {
    const puts = this.#steps.get(step)?.puts;
    const name = nameOf(kept.put);
    if (puts?.get(name) !== kept) return;
    puts.delete(name);
    this.#bytes -= kept.put.header.bytes;
  }

  forget(step: string): void {
    for (const put of this.of(step)) this.drop(step, put);
    this.#steps.delete(step);
  }

  /** Drops settled steps first, then the oldest, never the current one. */
  #fit(current: string): void {
    const others = [...this.#steps].filter(([step]) => step !== current);
    const order = [...others.filter(([, open]) => open.settled), ...others.filter(([, open]) => !open.settled)];
    for (const [step, { puts }] of order) {
      if (this.#bytes <= this.#most) return;
      this.dropped += puts.size;
      this.forget(step);
    }
  }
}

/** A repeated put has the same id. */
function nameOf({ header }: PreparedPut): string {
  return `${header.stage}:${header.id}`;
}
