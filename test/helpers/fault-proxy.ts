import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { seededRng } from "../../src/scoring/batch/rng.js";

/**
 * A front for a Redis socket whose wire can be broken on purpose. `cutReply`: the server executes a command, its answer never arrives, the
 * connection drops; `cutAtRandom` does so to a share of all commands. `freeze`: nothing passes any more on the connections of this
 * moment, and none of them ends, as behind a firewall that has forgotten them; new ones work. `slow`: everything takes longer. `down`:
 * connections end, new ones are refused.
 */
export class FaultProxy {
  readonly url: string;
  /** Replies that were cut off so far. */
  cuts = 0;
  readonly #folder: string;
  readonly #server;
  readonly #pairs = new Set<{ client: Socket; server: Socket }>();
  #target: string | undefined;
  #cut: { pattern: RegExp; left: number } | undefined;
  #share = 0;
  #random = () => 1;

  private constructor(target: string, folder: string) {
    this.#target = target;
    this.#folder = folder;
    this.url = `unix://${join(folder, "proxy.sock")}`;
    this.#server = createServer((client) => this.#open(client));
  }

  static async start(targetUrl: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(targetUrl, mkdtempSync(join(tmpdir(), "dfx-proxy-")));
    await new Promise<void>((resolve) => proxy.#server.listen(proxy.url.slice("unix://".length), resolve));
    return proxy;
  }

  /** Cuts the answers of the next `times` commands whose bytes match (RESP, so names and arguments are plain text). */
  cutReply(pattern: RegExp, times = 1): void {
    this.#cut = { pattern, left: times };
  }

  /** `share` of what the clients send from now on has its answer cut; `seed` decides which. 0 ends it. */
  cutAtRandom(share: number, seed = 1): void {
    this.#share = share;
    this.#random = seededRng(seed);
  }

  /** From now on whatever is sent takes `ms` longer, each way. 0 ends it. */
  slow(ms: number): void {
    this.#delayMs = ms;
  }
  #delayMs = 0;

  /** Makes every present connection half-open. */
  freeze(): void {
    for (const pair of this.#pairs) {
      for (const socket of [pair.client, pair.server]) socket.pause();
      this.#frozen.add(pair);
      this.#pairs.delete(pair);
    }
  }
  readonly #frozen = new Set<{ client: Socket; server: Socket }>();

  /** The server is gone: connections end, new ones are refused until `up`. */
  down(): void {
    this.#target = undefined;
    this.#dropAll();
  }

  up(targetUrl: string): void {
    this.#target = targetUrl;
  }

  async stop(): Promise<void> {
    this.#dropAll();
    await new Promise((resolve) => this.#server.close(resolve));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #dropAll(): void {
    for (const { client, server } of [...this.#pairs, ...this.#frozen]) {
      client.destroy();
      server.destroy();
    }
    this.#pairs.clear();
    this.#frozen.clear();
  }

  #open(client: Socket): void {
    if (this.#target === undefined) return void client.destroy();
    const server = createConnection(this.#target.slice("unix://".length));
    const pair = { client, server };
    this.#pairs.add(pair);
    const [toServer, toClient] = [this.#relay(server), this.#relay(client)];
    let doomed = false;
    let seen = "";
    const end = (): void => {
      client.destroy();
      server.destroy();
      this.#pairs.delete(pair);
    };
    client.on("data", (data: Buffer) => {
      if (this.#cut) {
        // A command may come in pieces: the pattern is looked for over the seam.
        seen = (seen + data.toString("latin1")).slice(-4096 - data.length);
        if (this.#cut.pattern.test(seen)) {
          doomed = true;
          seen = "";
          if (--this.#cut.left === 0) this.#cut = undefined;
        }
      }
      if (this.#share > 0 && this.#random() < this.#share) doomed = true;
      toServer(data);
    });
    server.on("data", (data: Buffer) => {
      if (doomed) {
        this.cuts++;
        return end();
      }
      toClient(data);
    });
    for (const socket of [client, server]) {
      socket.on("error", end);
      socket.on("close", end);
    }
  }

  /** Passes data on in its order, each piece after the delay of its time. */
  #relay(to: Socket): (data: Buffer) => void {
    let waiting: Promise<void> | undefined;
    return (data) => {
      if (this.#delayMs === 0 && waiting === undefined) return void to.write(data);
      const due = performance.now() + this.#delayMs;
      const turn = (waiting ?? Promise.resolve()).then(async () => {
        await pause(Math.max(0, due - performance.now()));
        to.write(data);
        if (waiting === turn) waiting = undefined;
      });
      waiting = turn;
    };
  }
}
