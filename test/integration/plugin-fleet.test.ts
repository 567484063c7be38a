import { fileURLToPath } from "node:url";
import { Client, type Run } from "dataflex-mq";
import { Broker, Worker } from "dataflex-mq/server";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { advantageStep, REWEIGHT, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { startTestRedis, type TestRedis } from "../helpers/redis.js";

const file = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
const SURPRISE = file("../examples/plugins/mean-surprise.ts");
const SLOW = file("helpers/plugins/scorers.ts");
const RIVAL = file("helpers/plugins/rival.ts");
const STAGE = "post_advantage";
const scoredBy = (scorer: object) => ({ ...REWEIGHT, scorer });

/** Three workers with other plugins each, and what the broker logs. */
let redis: TestRedis;
let broker: Broker;
let client: Client;
let workers: { surprise: Worker; slow: Worker; rival: Worker };
const logged: { run?: string; pipeline?: string; msg: string }[] = [];
const worker = (...plugins: string[]): Promise<Worker> => new Worker({ redisUrl: redis.url, plugins }).start();
const fingerprintOf = (w: Worker): string => /plugin-[0-9a-f]+/.exec(w.queues.join())![0];

beforeAll(async () => {
  redis = await startTestRedis();
  const log = pino({ level: "info" }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  broker = await new Broker({ redisUrl: redis.url, walkMs: 300, log }).start();
  const [surprise, slow, rival] = [await worker(SURPRISE), await worker(SLOW), await worker(RIVAL)];
  workers = { surprise, slow, rival };
  client = await Client.connect({ redisUrl: redis.url });
});
afterAll(async () => {
  await client.close();
  await Promise.all([...Object.values(workers), broker].map((service) => service.stop()));
  await redis.stop();
});

const mount = (run_id: string, dataflex: unknown): Promise<Run> =>
  client.mount({ run_id, dataflex, adv_estimator: "grpo", timeoutMs: 10_000 });
async function put(run: Run, step: number): Promise<void> {
  const fields = advantageStep(valuesOf(step));
  const needsProbs = run.handle.stages[STAGE]!.some(({ name }) => name === "old_log_probs");
  const old_log_probs = fields.advantages.map((row) => row.map((a) => -Math.abs(a)));
  await run.put(step, STAGE, { ...fields, ...(needsProbs && { old_log_probs }) });
}
async function serve(run: Run, step: number) {
  await put(run, step);
  return (await run.weights(step, { timeoutMs: 20_000 })).pipelines;
}

test("each pipeline's jobs go to the worker that has its components, each worker's own to it alone", async () => {
  const run = await mount("routed", {
    pipelines: {
      surprise: scoredBy({ name: "mean_surprise" }),
      slow: scoredBy({ name: "slow", fingerprint: fingerprintOf(workers.slow), params: { ms: 1 } }),
      builtin: REWEIGHT,
    },
  });
  const everybody = Object.values(workers).map(({ id }) => id);
  for (const step of [1, 2, 3]) {
    for (const p of await serve(run, step)) {
      // With −|a| for every log-prob, the mean surprise is |a|: all three pipelines weigh alike.
      expect(worst(p.weights, softmaxWeights(valuesOf(step)))).toBeLessThan(1e-5);
      if (p.name === "builtin") expect(everybody).toContain(p.producer.worker);
      else expect(p.producer.worker).toBe(workers[p.name as "surprise" | "slow"].id);
    }
  }
});

test("a name that two workers define differently is refused until the mount says which; then that one scores", async () => {
  const error = await rejection(mount("ambiguous", scoredBy({ name: "slow", params: { ms: 1 } })));
  const both = [fingerprintOf(workers.slow), fingerprintOf(workers.rival)];
  expect(error.code).toBe("CONFIG");
  expect(error.message).toContain('scorer "slow" is defined differently by');
  for (const fingerprint of both) expect(error.message).toContain(fingerprint);
  expect(error.message).toContain("say which one: {name: slow, fingerprint: plugin-");

  const rival = await mount("rival", scoredBy({ name: "slow", fingerprint: both[1] }));
  const [p] = await serve(rival, 1);
  expect(p!.producer.worker).toBe(workers.rival.id);
  expect(worst(p!.weights, softmaxWeights(valuesOf(1).map((a) => 2 * a)))).toBeLessThan(1e-5);
});

test("a scorer that no live worker has, and a pair that no worker has whole, are refused at mount", async () => {
  const unknown = await rejection(mount("unknown", scoredBy({ name: "soft_peak" })));
  expect(unknown).toMatchObject({ code: "CONFIG", message: expect.stringContaining('unknown scorer "soft_peak"') });
  const gate = await worker(file("../examples/plugins/sigmoid-gate.ts"));
  const apart = { ...scoredBy({ name: "mean_surprise" }), actuator: { name: "sigmoid_gate" } };
  const error = await rejection(mount("apart", apart));
  await gate.stop();
  expect(error).toMatchObject({ code: "CONFIG", message: expect.stringContaining("no worker can run both") });
});

test("when the last worker of a pipeline leaves, log and waiting client say so; a later one does the waiting jobs", async () => {
  const run = await mount("orphaned", scoredBy({ name: "mean_surprise" }));
  const said = (text: string) => logged.filter((l) => l.run === "orphaned" && l.msg.includes(text));
  await serve(run, 1);
  await workers.surprise.stop();
  await eventually(() => said("no live worker serves this pipeline").length > 0, { what: "the broker's warning" });

  await put(run, 2);
  const early = await rejection(run.weights(2, { timeoutMs: 1_500 }));
  expect(early).toMatchObject({ code: "TIMEOUT" });
  expect(early.message).toMatch(/no live worker serves pipeline "main" .*Start one: dataflex-mq worker/);
  // That wait has given step 2 up. Another step waits for whoever comes.
  await put(run, 3);
  const late = run.weights(3, { timeoutMs: 30_000 });
  workers.surprise = await worker(SURPRISE);
  const [p] = (await late).pipelines;
  expect(p!.producer.worker).toBe(workers.surprise.id);
  expect(worst(p!.weights, softmaxWeights(valuesOf(3)))).toBeLessThan(1e-5);
  await eventually(() => said("serves this pipeline again").length > 0, { what: "the broker's all-clear" });
  expect(said("no live worker serves this pipeline")).toHaveLength(1);
});
