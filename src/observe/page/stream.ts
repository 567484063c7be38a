import { isAfter } from "./page-history.js";

export type LinkState = "live" | "reconnecting" | "paused";
export interface StreamEvents {
  onStep(text: string, id: string): void;
  onOverview(text: string): void;
  /** Events in between are gone. */
  onGap(): void;
  onLink(state: LinkState): void;
  /** The page is looked at again: what it missed is to be loaded. */
  onReturn(): void;
}
type Told = { readonly kind: "step" | "overview" | "gap" | "link"; readonly text: string; readonly id: string };

const NAME = "dataflex-mq";

/**
 * The one stream of all tabs of this browser: six connections to one address are all that it opens, and each tab's stream would hold
 * one. The tab that has the lock reads and tells the others. A hidden tab neither reads nor waits for the lock.
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
      if (!document.hidden) this.#take(data as Told);
    });
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#rest() : this.#wake()));
    if (document.hidden) this.#events.onLink("paused");
    else this.#ask();
  }

  /** Whether this tab is the one that reads. */
  get reads(): boolean {
    return this.#source !== undefined;
  }
  /** Events after it are news. */
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
    // Whoever reads says so with the next event; until then another tab's word is good enough.
    this.#events.onLink("live");
  }

  #open(): void {
    const source = new EventSource(`/api/v1/events?after=${encodeURIComponent(this.#after)}`);
    this.#source = source;
    const tell = (kind: Told["kind"], text: string, id = ""): void => {
      const told = { kind, text, id };
      this.#take(told);
      this.#channel.postMessage(told);
    };
    for (const kind of ["step", "overview", "gap"] as const) {
      source.addEventListener(kind, (event) => tell(kind, String(event.data), event.lastEventId));
    }
    source.addEventListener("hello", () => tell("link", "live"));
    source.addEventListener("error", () => {
      if (this.#source !== source) return;
      tell("link", "reconnecting");
      // The browser gives up after an answer that is none; it would never ask again.
      if (source.readyState === EventSource.CLOSED) setTimeout(() => this.#source === source && this.#open(), 2_000);
    });
  }

  #close(): void {
    this.#source?.close();
    this.#source = undefined;
    this.#release?.();
    this.#release = undefined;
  }

  #take({ kind, text, id }: Told): void {
    if (kind === "step") {
      this.after = id;
      this.#events.onStep(text, id);
    } else if (kind === "overview") this.#events.onOverview(text);
    else if (kind === "gap") this.#events.onGap();
    else this.#events.onLink(text as LinkState);
  }
}
