import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DASHBOARDS } from "../../scripts/dashboards/index.js";
import type { Dashboard } from "../../scripts/dashboards/panel.js";
import { eventually } from "../helpers/eventually.js";
import { oursOf, seriesOf, valueIn } from "../helpers/metrics.js";
import { describeWith } from "../helpers/packages.js";
import { Fleet } from "../helpers/processes.js";
import { type Prometheus, startPrometheus } from "../helpers/prometheus.js";
import { promtool } from "../helpers/promtool.js";
import { startTestRedis, type TestRedis } from "../helpers/redis.js";
import { startTrainingLoad } from "../helpers/training-load.js";

const CLI = fileURLToPath(new URL("../../dist/src/commands/cli/main.js", import.meta.url));
/** Long enough for a rate over scrapes of one second on a machine that is busy with other tests. */
const WINDOW = "20s";
/** The longest wait here: a first rate needs two scrapes of every process. */
const PATIENCE = { timeoutMs: 90_000 };

/** The queries of a dashboard as Prometheus takes them, its variables selecting everything. */
const queriesOf = ({ panels }: Dashboard): { panel: string; expr: string }[] =>
  panels.flatMap(({ title, queries }) =>
    queries.map(({ expr }) => ({
      panel: title,
      expr: expr.replaceAll(/\$__(rate_interval|range|interval)/g, WINDOW).replaceAll(/"\$\w+"/g, '".*"'),
    })),
  );

interface DemoStep {
  readonly kind: string;
  readonly step: number;
  readonly weight: {
    readonly mean: number;
    readonly std: number;
    readonly ess_ratio: number;
    readonly kept_ratio: number;
  };
  readonly received: readonly { readonly name: string; readonly weights: readonly (number | number[])[] }[];
}

describeWith("prometheus")("a broker and two workers under load, scraped by a real Prometheus", () => {
  const fleet = new Fleet();
  let redis: TestRedis;
  let prometheus: Prometheus;
  let services: { role: "broker" | "worker"; http: string; pid: number }[] = [];
  const stops: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    redis = await startTestRedis(["--maxmemory", "512mb"]);
    stops.push(() => redis.stop());
    const roles = ["broker", "worker", "worker"] as const;
    const started = await Promise.all(roles.map((role) => fleet.spawn(role, redis.url)));
    services = started.map(({ ready, pid }) => ({ role: ready.role, http: ready.http, pid }));
    const of = (role: string): string[] => services.filter((s) => s.role === role).map((s) => s.http);
    prometheus = await startPrometheus({ "dataflex-broker": of("broker"), "dataflex-worker": of("worker") });
    stops.push(() => prometheus.stop());
  });
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
  });
  const page = async (http: string): Promise<string> => (await fetch(`${http}/metrics`)).text();
  const broker = (): Promise<string> => page(services[0]!.http);

  test("after demo --steps 20 the numbers are those that the demo printed", async () => {
    const demo = spawn(process.execPath, [CLI, "demo", "--steps", "20", "--json", "--redis", redis.url], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let printed = "";
    demo.stdout.on("data", (chunk) => (printed += String(chunk)));
    expect(await once(demo, "exit")).toEqual([0, null]);
    const lines = printed
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as DemoStep);
    const steps = lines.filter((line) => line.kind === "step");
    const last = steps.at(-1)!;
    expect(steps).toHaveLength(20);

    const text = await eventually(async () => {
      const now = await broker();
      return valueIn(now, "dataflex_run_step", { point: "applied" }) === 20 ? now : undefined;
    });
    expect(valueIn(text, "dataflex_run_step", { point: "published" })).toBe(20);
    const combined = { pipeline: "_combined", delivered: "true", level: "token", mechanism: "select" };
    for (const [name, value] of Object.entries(last.weight)) {
      expect([name, valueIn(text, `dataflex_weight_${name}`, combined)]).toEqual([name, expect.closeTo(value, 5)]);
    }
    for (const { name, weights } of last.received) {
      const flat = weights.flat();
      const mine = { pipeline: name };
      expect(valueIn(text, "dataflex_weight_max", mine)).toBeCloseTo(Math.max(...flat), 5);
      expect(valueIn(text, "dataflex_weight_mean", mine)).toBeCloseTo(flat.reduce((a, b) => a + b) / flat.length, 5);
      expect(valueIn(text, "dataflex_steps_total", { ...mine, outcome: "applied" })).toBe(20);
      expect(valueIn(text, "dataflex_steps_total", { ...mine, outcome: "failed" })).toBe(0);
    }
    expect(valueIn(text, "dataflex_trainer_wait_seconds_count")).toBe(20);
    expect(valueIn(text, "dataflex_trainer_hidden_seconds_count")).toBe(20);
    const waiting = [...seriesOf(text)].filter(([name]) => /^dataflex_queue_jobs\{.*state="waiting"/.test(name));
    expect(waiting.length).toBeGreaterThan(0);
    expect(waiting.filter(([, jobs]) => jobs > 0)).toEqual([]);

    // Each step was weighted by one of the two workers, and counted by it.
    const pages = await Promise.all(services.filter((s) => s.role === "worker").map((s) => page(s.http)));
    for (const { name } of last.received) {
      const counts = pages.map((p) => valueIn(p, "dataflex_weight_value_count", { pipeline: name }) ?? 0);
      const expected = steps.reduce((n, s) => n + s.received.find((r) => r.name === name)!.weights.flat().length, 0);
      expect([name, counts.reduce((a, b) => a + b)]).toEqual([name, expected]);
    }
  });

  test("every panel of every dashboard shows numbers, and nothing is alarming", { timeout: 150_000 }, async () => {
    const load = await startTrainingLoad(redis.url);
    // Slow enough that its policy does not learn all there is while panels are looked at: then nothing is kept, and that alarms.
    const demo = spawn(process.execPath, [CLI, "demo", "--watch", "--steps", "1000", "--json", "--redis", redis.url], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    // No worker here has Python plugins: test/python/truth.python.ts reads their metrics.
    const queries = Object.values(DASHBOARDS)
      .flatMap(queriesOf)
      .filter(({ expr }) => !expr.includes("dataflex_python_"));
    expect(queries.length).toBeGreaterThan(60);
    try {
      const silent = async (): Promise<string[]> => {
        const answers = await Promise.all(queries.map(({ expr }) => prometheus.query(expr)));
        return queries.flatMap(({ panel, expr }, i) => {
          const answer = answers[i]!;
          const finite = answer.length > 0 && answer.every((sample) => Number.isFinite(sample.value));
          return finite ? [] : [`${panel}: ${expr} → ${answer.length === 0 ? "nothing" : "not finite"}`];
        });
      };
      const look = async (): Promise<boolean> => {
        const without = await silent();
        if (without.length > 0) throw new Error(without.join("\n"));
        return true;
      };
      const scrapes = async (): Promise<number[]> =>
        (await prometheus.query("count_over_time(up[1m])")).map((sample) => sample.value);
      await eventually(async () => Math.min(...(await scrapes())) >= 20, {
        what: "twenty scrapes of each",
        ...PATIENCE,
      });
      await eventually(look, { what: "an answer to every panel", ...PATIENCE });

      const pipelines = async (): Promise<string[]> => {
        const means = await prometheus.query('dataflex_weight_mean{run="weighed"}');
        return means.map(({ labels }) => `${labels.pipeline} ${labels.delivered}`).sort();
      };
      const whose = ["_combined true", "sharp true", "soft true", "trial false"];
      await eventually(async () => (await pipelines()).join() === whose.join(), PATIENCE);
      const spread = await prometheus.query('dataflex_weight_std{run="weighed",pipeline=~"sharp|soft"}');
      const of = Object.fromEntries(spread.map(({ labels, value }) => [labels.pipeline, value]));
      expect(of.sharp).toBeGreaterThan(of.soft!);
      // Two workers weigh, one broker reports: what is a mean of 1 is not 2.
      const [mean] = await prometheus.query('sum(dataflex_weight_mean{run="weighed",pipeline="soft"})');
      expect(mean?.value).toBeCloseTo(1, 5);

      type Rules = { groups: { rules: { name: string; health: string; state: string; lastError?: string }[] }[] };
      const rules = (await prometheus.get<Rules>("/api/v1/rules")).groups.flatMap((group) => group.rules);
      expect(rules.filter((rule) => rule.health !== "ok")).toEqual([]);
      expect(rules.filter((rule) => rule.state === "firing").map((rule) => rule.name)).toEqual([]);
    } finally {
      const gone = once(demo, "exit");
      demo.kill("SIGTERM");
      await gone;
      await load.stop();
    }
  });

  test("a worker that answers nothing is marked as down, and the numbers of the others go on", async () => {
    const [, silent, other] = services;
    const up = async ({ http }: { http: string }): Promise<number | undefined> =>
      (await prometheus.query(`up{instance="${new URL(http).host}"}`))[0]?.value;
    process.kill(silent!.pid, "SIGSTOP");
    try {
      await eventually(async () => (await up(silent!)) === 0, PATIENCE);
      expect([await up(services[0]!), await up(other!)]).toEqual([1, 1]);
      expect(valueIn(await page(other!.http), "dataflex_ready")).toBe(1);
      // The broker knows it by its heartbeat.
      const living = async (): Promise<number | undefined> =>
        (await prometheus.query('max(dataflex_workers{queue=~"post_reward.builtin.*"})'))[0]?.value;
      await eventually(async () => (await living()) === 1, PATIENCE);
    } finally {
      process.kill(silent!.pid, "SIGCONT");
    }
    await eventually(async () => (await up(silent!)) === 1, PATIENCE);
  });

  test("promtool finds nothing to say about the pages of real services", async () => {
    for (const { role, http } of services) {
      const { status, said } = promtool(["check", "metrics"], oursOf(await page(http)));
      expect([role, status, said]).toEqual([role, 0, ""]);
    }
  });
});
