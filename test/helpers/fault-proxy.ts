import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A front for a Redis socket whose wire can be broken on purpose. `cutReply`: the server executes a command, its answer never arrives, the
 * connection drops. `blackhole`: nothing passes any more in either direction, no connection ends. `down`: connections end and new
 * ones are refused. `delay`: every answer comes later.
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
  #hole = false;
  #delayMs = 0;

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

  blackhole(on = true): void {
    this.#hole = on;
    for (const { client, server } of this.#pairs) {
      for (const socket of [client, server]) {
        if (on) socket.pause();
        else socket.resume();
      }
    }
  }

  delay(ms: number): void {
    this.#delayMs = ms;
  }

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
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
    this.#pairs.clear();
  }

  #open(client: Socket): void {
    if (this.#target === undefined) return void client.destroy();
    const server = createConnection(this.#target.slice("unix://".length));
    const pair = { client, server };
    this.#pairs.add(pair);
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
      server.write(data);
    });
    server.on("data", (data: Buffer) => {
      if (doomed) {
        this.cuts++;
        return end();
      }
      if (this.#delayMs === 0) client.write(data);
      else setTimeout(() => client.writable && client.write(data), this.#delayMs);
    });
    for (const socket of [client, server]) {
      socket.on("error", end);
      socket.on("close", end);
    }
    if (this.#hole) {
      client.pause();
      server.pause();
    }
  }
}
