import { isAfter } from "./page-history.js";

export type LinkState = "live" | "reconnecting" | "paused";
export interface StreamEvents {
  onStep(text: string, id: string): void;
  onOverview(text: string): void;
  /** Events in between are gone. */
  onGap(): void;
  onLink(state: LinkState): void;
  /** The tab is visible again: what it missed must be loaded. */
  onReturn(): void;
}
type Message = { readonly kind: "step" | "overview" | "gap" | "link"; readonly text: string; readonly id: string };

const NAME = "dataflex-mq";

/**
 * The one stream of all tabs of this browser: six connections to one address are all that it opens, and each tab's stream would hold
 * one. The tab that has the lock reads and passes everything on to the others. A hidden tab neither reads nor waits for the lock.
 */
export class Stream {
  readonly #events: StreamEvents;
  readonly #channel = new BroadcastChannel(NAME);
  #after: string;
  #source: EventSource | undefined;
  #release: (() => void) | undefined;
  #waiting: AbortController | undefined;

  constructor(after: string, events: StreamEvents) {
    this.#after = after;
    this.#events = events;
    this.#channel.addEventListener("message", ({ data }) => {
      if (!document.hidden) this.#take(data as Message);
    });
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#rest() : this.#wake()));
    if (document.hidden) this.#events.onLink("paused");
    else this.#ask();
  }

  /** Whether this tab is the one that reads. */
  get reads(): boolean {
    return this.#source !== undefined;
  }
  /** Id of the newest event seen; what comes after it is new. */
  set after(id: string) {
    if (isAfter(id, this.#after)) this.#after = id;
  }

  #rest(): void {
    this.#waiting?.abort();
    this.#waiting = undefined;
    this.#close();
    this.#events.onLink("paused");
  }

  #wake(): void {
    this.#events.onReturn();
    this.#ask();
  }

  #ask(): void {
    if (!("locks" in navigator)) {
      this.#open();
      return;
    }
    this.#waiting = new AbortController();
    const { signal } = this.#waiting;
    const held = (): Promise<void> => {
      if (signal.aborted) return Promise.resolve();
      this.#open();
      return new Promise((resolve) => {
        this.#release = resolve;
      });
    };
    // Rejects when the tab is hidden while it waits.
    navigator.locks.request(NAME, { signal }, held).catch(() => {});
    // Until the next event says otherwise, the tab that reads is assumed to be connected.
    this.#events.onLink("live");
  }

  #open(): void {
    const source = new EventSource(`/api/v1/events?after=${encodeURIComponent(this.#after)}`);
    this.#source = source;
    const pass = (kind: Message["kind"], text: string, id = ""): void => {
      const message = { kind, text, id };
      this.#take(message);
      this.#channel.postMessage(message);
    };
    for (const kind of ["step", "overview", "gap"] as const) {
      source.addEventListener(kind, (event) => pass(kind, String(event.data), event.lastEventId));
    }
    source.addEventListener("hello", () => pass("link", "live"));
    source.addEventListener("error", () => {
      if (this.#source !== source) return;
      pass("link", "reconnecting");
      // After an invalid answer the browser gives up for good.
      if (source.readyState === EventSource.CLOSED) setTimeout(() => this.#source === source && this.#open(), 2_000);
    });
  }

  #close(): void {
    this.#source?.close();
    this.#source = undefined;
    this.#release?.();
    this.#release = undefined;
  }

  #take({ kind, text, id }: Message): void {
    if (kind === "step") {
      this.after = id;
      this.#events.onStep(text, id);
    } else if (kind === "overview") this.#events.onOverview(text);
    else if (kind === "gap") this.#events.onGap();
    else this.#events.onLink(text as LinkState);
  }
}
