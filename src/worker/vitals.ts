const MINUTE_MS = 60_000;
/** How often the main thread records that it is running. */
const TICK_MS = 100;

/** The state of a worker, as its heartbeat reports it. */
export interface Vitals {
  /** Jobs that ended, well or not, within the last minute. */
  readonly jobs_last_minute: number;
  /** Since the last job ended; null before the first. */
  readonly idle_ms: number | null;
  /** The longest stall of its main thread, which renews locks and answers HTTP, since the last heartbeat. */
  readonly loop_lag_ms: number;
}

/** Counts jobs and watches the event loop, on the monotonic clock. */
export class VitalSigns {
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #ended: number[] = [];
  #last: number | undefined;
  #turned: number;
  #lag = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#turned = now();
    this.#timer = setInterval(() => this.#turn(), TICK_MS).unref();
  }

  jobEnded(): void {
    this.#last = this.#now();
    this.#ended.push(this.#last);
  }

  /** The facts since the last call. A stall counts even if this is the first code to run after it. */
  take(): Vitals {
    const now = this.#now();
    this.#turn();
    const lag = this.#lag;
    this.#lag = 0;
    this.#ended = this.#ended.filter((at) => now - at < MINUTE_MS);
    return {
      jobs_last_minute: this.#ended.length,
      idle_ms: this.#last === undefined ? null : Math.round(now - this.#last),
      loop_lag_ms: Math.round(lag * 10) / 10,
    };
  }

  #turn(): void {
    const now = this.#now();
    this.#lag = Math.max(this.#lag, now - this.#turned - TICK_MS);
    this.#turned = now;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
