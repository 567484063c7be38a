import type { ServerResponse } from "node:http";
import type { LiveData } from "./live-data.js";

/** How often Redis is asked for new events while a page is open. */
const LOOK_MS = 250;
const OVERVIEW_MS = 1_000;
/** Proxies and browsers close a silent connection. */
const HEARTBEAT_MS = 15_000;
/** A reader that no longer reads is disconnected; it reconnects with the last id that it has. */
const MOST_BUFFERED = 1_048_576;

/** docs/live-page.md says what each means. */
export const EVENTS = ["hello", "step", "overview", "gap"] as const;

const event = (kind: (typeof EVENTS)[number], data: string, id?: string): string =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${kind}\ndata: ${data}\n\n`;

interface Reader {
  readonly response: ServerResponse;
  after: string;
  /** When the overview that it last got was made. */
  overviewAt: number;
  heard: number;
}

/**
 * Server-sent events: `step` (a record; its id is where a reader resumes), `overview` (at most once a second), `gap` (events in between
 * are gone: load the history again) and `hello`. Every reader has its own place in the stream, so none misses or repeats an event;
 * readers at the same place share one look at Redis.
 */
export class EventFeed {
  readonly #live: LiveData;
  readonly #readers = new Set<Reader>();
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  #overview: { text: string; at: number } | undefined;

  constructor(live: LiveData) {
    this.#live = live;
  }

  get readers(): number {
    return this.#readers.size;
  }

  add(response: ServerResponse, after: string): void {
    response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      // nginx would hold events back
      "x-accel-buffering": "no",
    });
    response.write(`retry: 1000\n${event("hello", JSON.stringify({ after }))}`);
    const reader: Reader = { response, after, overviewAt: 0, heard: performance.now() };
    this.#readers.add(reader);
    const gone = (): void => {
      this.#readers.delete(reader);
      if (this.#readers.size === 0) this.#stop();
    };
    response.on("close", gone);
    response.on("error", gone);
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS);
    void this.#look();
  }

  close(): void {
    this.#stop();
    for (const { response } of this.#readers) response.end();
    this.#readers.clear();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** One look at a time: while Redis is away it waits, and heartbeats go on with the next. */
  async #look(): Promise<void> {
    for (const reader of this.#readers) {
      this.#letGoIfSlow(reader);
      this.#beat(reader);
    }
    if (this.#looking) return;
    this.#looking = true;
    try {
      await this.#sendSteps();
      await this.#sendOverview();
    } catch {
      // Redis is away; readers keep their places and get what they missed when it is back.
    } finally {
      this.#looking = false;
    }
  }

  async #sendSteps(): Promise<void> {
    const places = new Map<string, Reader[]>();
    for (const reader of this.#readers) places.set(reader.after, [...(places.get(reader.after) ?? []), reader]);
    for (const [after, readers] of places) {
      const { events, gap } = await this.#live.events(after);
      if (events.length === 0) continue;
      const text = events.map(({ id, data }) => event("step", data, id)).join("");
      for (const reader of readers) {
        reader.after = events.at(-1)!.id;
        this.#send(reader, gap ? event("gap", "{}") + text : text);
      }
    }
  }

  async #sendOverview(): Promise<void> {
    const now = performance.now();
    if (!this.#overview || now - this.#overview.at >= OVERVIEW_MS) {
      const overview = await this.#live.overview();
      this.#overview = { text: event("overview", JSON.stringify(overview)), at: now };
    }
    for (const reader of this.#readers) {
      if (reader.overviewAt >= this.#overview.at) continue;
      reader.overviewAt = this.#overview.at;
      this.#send(reader, this.#overview.text);
    }
  }

  #beat(reader: Reader): void {
    if (performance.now() - reader.heard >= HEARTBEAT_MS) this.#send(reader, ": still here\n\n");
  }

  /** Checked before each look, against what is still unsent of earlier ones: one batch may exceed the bound, but a reader that takes it in time is not slow. */
  #letGoIfSlow({ response }: Reader): void {
    if (response.writableLength > MOST_BUFFERED) response.destroy();
  }

  #send(reader: Reader, text: string): void {
    reader.heard = performance.now();
    reader.response.write(text);
  }
}
