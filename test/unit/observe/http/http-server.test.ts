import { createServer, get, type Server } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import type { Check } from "../../../../src/lifecycle.js";
import { silentLogger } from "../../../../src/log.js";
import { buildApp, type HttpOptions, type HttpServer, startHttp } from "../../../../src/observe/http/http-server.js";
import { Meter } from "../../../../src/observe/metrics/meter.js";
import { metricsPage } from "../../../../src/observe/metrics/metrics-page.js";
import { rejection } from "../../../helpers/eventually.js";

const ok: Check = { name: "redis_command", ok: true, reason: "answered in 1 ms" };
const bad: Check = { name: "redis_blocking", ok: false, reason: "reconnecting" };

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const o of open.splice(0)) await o.close();
});

function options(more: Partial<HttpOptions> = {}): HttpOptions {
  const meter = new Meter([
    { name: "dataflex_redis_up", type: "gauge", by: ["broker"], shared: false, labels: [], help: "Up." },
  ]);
  meter.set("dataflex_redis_up", {}, 1);
  return {
    role: "broker",
    listen: { host: "127.0.0.1", port: 0, explicit: true },
    metrics: metricsPage(
      () => [meter.registry],
      () => {},
    ),
    health: async () => [ok],
    ready: async () => [ok],
    log: silentLogger,
    ...more,
  };
}
async function start(more: Partial<HttpOptions> = {}): Promise<HttpServer> {
  const server = await startHttp(options(more));
  open.push(server);
  return server;
}

/** A port that something else listens on. */
async function takenPort(): Promise<number> {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push({ close: () => new Promise((resolve) => server.close(() => resolve())) });
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}

describe("endpoints", () => {
  test("/metrics comes with the registry's content type and ends in a newline", async () => {
    const { address } = await start();
    const response = await fetch(`${address}/metrics`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const text = await response.text();
    expect(text).toContain("\ndataflex_redis_up 1\n");
    expect(text).toContain("process_resident_memory_bytes");
    expect(text.endsWith("\n")).toBe(true);
  });

  test("/healthz and /readyz list each check with its reason", async () => {
    const { address } = await start({ ready: async () => [ok, bad] });
    const health = await fetch(`${address}/healthz`);
    expect([health.status, await health.json()]).toEqual([200, { status: "ok", role: "broker", checks: [ok] }]);
    const ready = await fetch(`${address}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([503, { status: "failed", role: "broker", checks: [ok, bad] }]);
    expect(ready.headers.get("cache-control")).toBe("no-store");
  });

  test("a check that throws is a failed check", async () => {
    const app = buildApp(
      options({
        health: async () => {
          throw new Error("no such loop");
        },
      }),
    );
    open.push(app);
    const response = await app.inject("/healthz");
    expect(response.statusCode).toBe(503);
    expect(response.json().checks).toEqual([{ name: "checks", ok: false, reason: "no such loop" }]);
  });

  test("HEAD answers too; another path says what there is", async () => {
    const app = buildApp(options());
    open.push(app);
    expect((await app.inject({ method: "HEAD", url: "/readyz" })).statusCode).toBe(200);
    const missing = await app.inject("/metric?x=1");
    expect(missing.statusCode).toBe(404);
    expect(missing.json()).toEqual({ error: "nothing at GET /metric", paths: ["/metrics", "/healthz", "/readyz"] });
  });
});

describe("ports", () => {
  test("a default port that is taken gives way to a free one", async () => {
    const port = await takenPort();
    const { address } = await start({ listen: { host: "127.0.0.1", port, explicit: false } });
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(address).not.toBe(`http://127.0.0.1:${port}`);
    expect((await fetch(`${address}/healthz`)).status).toBe(200);
  });

  test("an explicit port that is taken ends with exit code 2 and names the port", async () => {
    const port = await takenPort();
    const listen = { host: "127.0.0.1", port, explicit: true };
    const error = await rejection(startHttp(options({ listen })));
    expect(error).toMatchObject({ code: "USAGE", exitCode: 2, details: { port, code: "EADDRINUSE" } });
    expect(error.message).toContain(`port ${port} is taken`);
  });

  test("a host that is no address of this machine is named", async () => {
    const error = await rejection(startHttp(options({ listen: { host: "203.0.113.7", port: 0, explicit: true } })));
    expect(error).toMatchObject({ code: "USAGE", details: { host: "203.0.113.7" } });
  });

  test("closing does not wait for a scraper's idle connection, and starts again", async () => {
    const first = await start();
    expect((await fetch(`${first.address}/metrics`)).status).toBe(200);
    await first.close();
    const port = Number(new URL(first.address).port);
    const again = await start({ listen: { host: "127.0.0.1", port, explicit: true } });
    expect(again.address).toBe(first.address);
  });
});

/** A request with a Host of its own, which `fetch` does not allow. */
function ask(address: string, path: string, host: string): Promise<number | undefined> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    get({ hostname, port, path, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on("error", reject);
  });
}

test.each(["/metrics", "/healthz", "/readyz", "/nowhere"])(
  "%s: on an address of this machine, a name of another one is refused: it may be a foreign site's",
  async (path) => {
    const { address } = await start();
    for (const host of [
      "evil.example",
      "evil.example:7411",
      "127.0.0.1.evil.example",
      "localhost.evil.example",
      "10.0.0.7",
    ])
      expect([host, await ask(address, path, host)]).toEqual([host, 403]);
    for (const host of ["localhost", "127.0.0.1:9", "[::1]:7411"]) expect(await ask(address, path, host)).not.toBe(403);
  },
);

test("an address that others can reach is scraped by any name", async () => {
  const { address } = await start({ listen: { host: "0.0.0.0", port: 0, explicit: true } });
  expect(await ask(address.replace("0.0.0.0", "127.0.0.1"), "/metrics", "dataflex-brokers:7411")).toBe(200);
});
