import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EventFeed } from "../../../../src/observe/http/events.js";
import type { LiveData } from "../../../../src/observe/http/live-data.js";
import { eventually } from "../../../helpers/eventually.js";

const EVENT_BYTES = 256 * 1024;
/** 50 MiB: far more than the kernel holds for two ends of a connection of this machine. */
const EVENTS = 200;

let feed: EventFeed;
let server: Server;
let sockets: Socket[];
/** How far the stream has come. It starts with both readers, and goes on once the quick one has everything up to there. */
let shown: number;
let started: boolean;
/** What the quick reader got. */
let ids: number[];

beforeEach(async () => {
  shown = 0;
  started = false;
  ids = [];
  sockets = [];
  const live: LiveData = {
    overview: async () => ({}) as never,
    events: async (after) => {
      if (started && ids.length === shown) shown = Math.min(EVENTS, shown + 10);
      const from = Number(after.split("-", 1)[0]);
      const events = Array.from({ length: shown - from }, (_, i) => ({
        id: `${from + i + 1}-0`,
        data: "x".repeat(EVENT_BYTES),
      }));
      return { events, gap: false };
    },
    steps: () => Promise.reject(new Error("not asked for")),
    step: () => Promise.reject(new Error("not asked for")),
    config: () => ({}),
  };
  feed = new EventFeed(live);
  server = createServer((_, response) => feed.add(response, "0-0"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  feed.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function reader(): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => {});
  socket.write("GET / HTTP/1.1\r\nHost: here\r\n\r\n");
  await once(socket, "connect");
  return socket;
}

/** Batches here are larger than what a reader may leave untaken: size alone makes nobody slow. */
test("a reader that takes nothing is let go, and holds up nobody: another gets every event, in order", async () => {
  const slow = await reader();
  slow.pause();
  const quick = await reader();
  let text = "";
  quick.on("data", (part: Buffer) => {
    text += part.toString("latin1").replace(/x+/g, "");
    for (let found = /id: (\d+)-0\n/.exec(text); found; found = /id: (\d+)-0\n/.exec(text)) {
      ids.push(Number(found[1]));
      text = text.slice(found.index + found[0].length);
    }
  });
  await eventually(() => feed.readers === 2, { what: "both readers" });
  started = true;
  await eventually(() => feed.readers === 1, { what: "the end of the slow one", timeoutMs: 30_000 });
  await eventually(() => ids.length === EVENTS, { what: "every event at the quick one", timeoutMs: 30_000 });
  expect(ids).toEqual(Array.from({ length: EVENTS }, (_, i) => i + 1));
  expect(feed.readers).toBe(1);
});
