import { expect, test } from "vitest";
import type { Overview } from "../../src/observe/status/overview-types.js";
import { REASON_KINDS } from "../../src/observe/verdict/reason-kinds.js";
import type { Verdict } from "../../src/observe/verdict/verdict-types.js";
import { advantageStep, REWEIGHT, valuesOf } from "../helpers/batches.js";
import { dataflexMq } from "../helpers/cli.js";
import { eventually } from "../helpers/eventually.js";
import { valueIn } from "../helpers/metrics.js";
import { useServed } from "../helpers/served.js";

const served = useServed({});
const STAGE = "post_advantage";

/** What the API, `status --json` and the metrics say of a run, once they agree on a level. */
async function verdicts(run: string, level: Verdict["level"]): Promise<Verdict> {
  return eventually(
    async () => {
      const answer = await fetch(`${served.broker.ready.http}/api/v1/overview`);
      const overview = (await answer.json()) as Overview;
      const api = overview.runs.find((r) => r.run === run)!.verdict;
      const { out } = await dataflexMq(["status", "--redis", served.redis.url, "--json"]);
      const status = (JSON.parse(out) as { overview: Overview }).overview.runs.find((r) => r.run === run)!.verdict;
      const page = await (await fetch(`${served.broker.ready.http}/metrics`)).text();
      const levels = REASON_KINDS.map(({ code }) => valueIn(page, "dataflex_run_verdict_level", { run, code }) ?? 0);
      if (api.level !== level) return undefined;
      const said = overview.banner.run === run ? overview.banner.level : "ok";
      expect(status).toEqual(api);
      expect([Math.max(...levels), said]).toEqual({ ok: [0, "ok"], warn: [1, "warning"], bad: [2, "critical"] }[level]);
      return api;
    },
    { what: `a verdict of ${level}`, timeoutMs: 20_000 },
  );
}

test("a run that trains without weights is sick everywhere, and well again after ten healthy steps", async () => {
  const dataflex = { ...REWEIGHT, on_unavailable: "neutral" };
  const run = await served.client.mount({ run_id: "without", dataflex, adv_estimator: "grpo", timeoutMs: 20_000 });
  const healthy = async (step: number): Promise<void> => {
    const batch = advantageStep(valuesOf(step, 32));
    await run.put(step, STAGE, { ...batch });
    (await run.weights(step)).rolloutIsWeights(batch.response_mask);
    await run.release(step);
  };
  const without = async (step: number): Promise<void> => {
    await run.weights(step, { timeoutMs: 20 });
    await run.release(step);
  };
  await healthy(1);
  await verdicts("without", "ok");
  await without(2);
  const warned = await verdicts("without", "warn");
  expect(warned).toMatchObject({ since_step: 2, reasons: [{ code: "no_weights" }] });
  expect(warned.reasons[0]!.text).toBe("step 2 trained without weights (TIMEOUT)");
  for (const step of [3, 4]) await without(step);
  expect((await verdicts("without", "bad")).since_step).toBe(2);
  for (let step = 5; step <= 9; step++) await healthy(step);
  await verdicts("without", "warn");
  for (let step = 10; step <= 14; step++) await healthy(step);
  await verdicts("without", "ok");
});
