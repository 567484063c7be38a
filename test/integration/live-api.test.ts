import { Client, type Run } from "dataflex-mq";
import { runBroker, runWorker } from "dataflex-mq/server";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { VERSION } from "../../src/version.js";
import { advantageStep, REWEIGHT, softmaxWeights, valuesOf } from "../helpers/batches.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { startTestRedis, type TestRedis } from "../helpers/redis.js";

type Service = Awaited<ReturnType<typeof runBroker>>;
let redis: TestRedis;
let brokers: Service[];
let worker: Service;
let client: Client;
let run: Run;

beforeAll(async () => {
  vi.stubEnv("DFX_LOG", "error");
  redis = await startTestRedis();
  brokers = [await runBroker(redis.url, { http: "127.0.0.1:0" }), await runBroker(redis.url, { http: "127.0.0.1:0" })];
  worker = await runWorker(redis.url, { http: "127.0.0.1:0" });
  client = await Client.connect({ redisUrl: redis.url });
  run = await client.mount({ run_id: "a/b c", dataflex: REWEIGHT, adv_estimator: "grpo", timeoutMs: 20_000 });
});
afterAll(async () => {
  await client?.close();
  await worker?.stop();
  await Promise.all((brokers ?? []).map((b) => b.stop()));
  await redis?.stop();
});

async function train(step: number): Promise<void> {
  await run.put(step, "post_advantage", { ...advantageStep(valuesOf(step, 24)) });
  await run.weights(step);
  await run.release(step);
}
const get = (path: string, broker = brokers[0]!): Promise<Response> => fetch(`${broker.ready.http}${path}`);
type Records = { read_to: string; records: { id: string; kind: string; step: number }[] };
const steps = async (query: string): Promise<Records> =>
  (await get(`/api/v1/runs/${encodeURIComponent("a/b c")}/steps${query}`)).json() as Promise<Records>;

/** Events of a stream until `count` steps have come. */
async function listen(
  broker: Service,
  after: string,
  count: number,
  header = false,
): Promise<{ id: string; step: number; kind: string }[]> {
  const abort = new AbortController();
  const url = `${broker.ready.http}/api/v1/events${header ? "" : `?after=${after}`}`;
  const response = await fetch(url, { signal: abort.signal, headers: header ? { "last-event-id": after } : {} });
  const found: { id: string; step: number; kind: string }[] = [];
  let text = "";
  for await (const part of response.body!) {
    text += Buffer.from(part).toString();
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      if (block.includes("event: step")) {
        const { step, kind } = JSON.parse(/^data: (.*)$/m.exec(block)![1]!) as { step: number; kind: string };
        found.push({ id: /^id: (.*)$/m.exec(block)![1]!, step, kind });
      }
    }
    if (found.length >= count) break;
  }
  abort.abort();
  return found;
}

test("history has each step once, with the numbers of its weights and its extreme rows", async () => {
  for (const step of [1, 2, 3]) await train(step);
  const { records } = await eventually(async () => {
    const answer = await steps("");
    return answer.records.length === 7 && answer;
  });
  const [mounted, ...ofSteps] = records;
  expect(ofSteps.map((r) => `${r.kind} ${r.step}`)).toEqual([1, 2, 3].flatMap((s) => [`result ${s}`, `released ${s}`]));
  expect(mounted).toMatchObject({
    kind: "mounted",
    version: VERSION,
    settings: {
      "main.actuator.name": "softmax",
      "main.actuator.params.temperature": "1",
      "composition.rescale": "none",
    },
  });
  expect(ofSteps[0]).toMatchObject({ version: VERSION });
  const detail = (await (await get(`/api/v1/runs/${encodeURIComponent("a/b c")}/steps/2`)).json()) as {
    records: { id: string; stats?: { max: number } }[];
    rows: Record<string, { rows: number[]; weights: number[]; scores: number[] }>;
  };
  const weights = softmaxWeights(valuesOf(2, 24));
  expect(detail.records[0]?.stats?.max).toBeCloseTo(Math.max(...weights), 4);
  const rows = detail.rows[detail.records[0]!.id]!;
  const order = weights.map((_, i) => i).sort((a, b) => weights[a]! - weights[b]!);
  expect(rows.rows).toEqual([...order.slice(0, 10), ...order.slice(-10)]);
  rows.rows.forEach((row, i) => {
    expect(rows.weights[i]).toBeCloseTo(weights[row]!, 4);
    expect(rows.scores[i]).toBeCloseTo(Math.abs(valuesOf(2, 24)[row]!), 4);
  });
});

test("after, limit and every page through a history; wrong ones are refused", async () => {
  const all = (await steps("")).records;
  const first = await steps("?after=0&limit=4");
  const rest = await steps(`?after=${first.read_to}`);
  expect([...first.records, ...rest.records]).toEqual(all);
  expect((await steps("?limit=2")).records).toEqual(all.slice(-2));
  const thinned = (await steps("?after=0&every=2")).records;
  expect(thinned.map((r) => r.step)).toEqual([undefined, 2, 2, 3]);
  for (const query of ["?after=x", "?limit=0", "?every=-1"]) {
    expect([query, (await get(`/api/v1/runs/x/steps${query}`)).status]).toEqual([query, 400]);
  }
});

test("events go on after an id, from either broker and after a break, none missing and none twice", async () => {
  const { records } = await steps("");
  const second = records[1]!.id;
  const expected = records.slice(2).map((r) => r.id);
  for (const [broker, header] of [
    [brokers[0]!, false],
    [brokers[1]!, true],
  ] as const) {
    expect((await listen(broker, second, expected.length, header)).map((e) => e.id)).toEqual(expected);
  }
  const coming = listen(brokers[1]!, records.at(-1)!.id, 2);
  await train(4);
  expect((await coming).map((e) => `${e.kind} ${e.step}`)).toEqual(["result 4", "released 4"]);
});

test("the overview names runs, queues, workers, brokers; unknown addresses answer with what there is", async () => {
  const overview = (await (await get("/api/v1/overview")).json()) as {
    runs: { run: string; state: string }[];
    workers: unknown[];
    brokers: { leads: boolean }[];
    banner: { level: string };
  };
  expect(overview.runs).toMatchObject([{ run: "a/b c", state: "live" }]);
  expect(overview.workers).toHaveLength(1);
  expect(overview.brokers.filter((b) => b.leads)).toHaveLength(1);
  expect(overview.banner.level).toBe("ok");
  for (const path of ["/api/v1/runs", "/api/v1/workers", "/api/v1/queues", "/api/v1/errors", "/api/v1/config"]) {
    expect([path, (await get(path)).status]).toEqual([path, 200]);
  }
  const missing = await get("/api/v1/nothing");
  expect(missing.status).toBe(404);
  expect(await missing.text()).toContain("/api/v1/events");
  expect((await get("/api/v1/runs/none")).status).toBe(404);
});

describe("who may see the page", () => {
  test("on this machine only names of this machine", async () => {
    const { request } = await import("node:http");
    const { port } = new URL(brokers[0]!.ready.http);
    const status = await new Promise((resolve, reject) => {
      const asked = request(
        { host: "127.0.0.1", port, path: "/api/v1/overview", headers: { host: "evil.example" } },
        (r) => {
          r.resume();
          resolve(r.statusCode);
        },
      );
      asked.on("error", reject);
      asked.end();
    });
    expect(status).toBe(403);
  });

  test("an address that others can reach needs a token", async () => {
    const error = await rejection(runBroker(redis.url, { http: "0.0.0.0:0" }));
    expect(error).toMatchObject({ code: "USAGE", message: expect.stringContaining("--token") });
    const broker = await runBroker(redis.url, { http: "0.0.0.0:0", token: "long-enough" });
    const at = broker.ready.http.replace("0.0.0.0", "127.0.0.1");
    try {
      expect((await fetch(at)).status).toBe(401);
      expect((await fetch(`${at}/api/v1/overview`, { headers: { authorization: "Bearer wrong-one" } })).status).toBe(
        401,
      );
      expect((await fetch(`${at}/api/v1/overview`, { headers: { authorization: "Bearer long-enough" } })).status).toBe(
        200,
      );
      const answer = await fetch(`${at}/?token=long-enough`, { redirect: "manual" });
      expect([answer.status, answer.headers.get("location")]).toEqual([303, "/"]);
      const cookie = answer.headers.get("set-cookie")!;
      expect(cookie).toContain("HttpOnly");
      expect((await fetch(at, { headers: { cookie: cookie.split(";")[0]! } })).status).toBe(200);
      expect((await fetch(`${at}/metrics`)).status).toBe(200);
    } finally {
      await broker.stop();
    }
  });
});
