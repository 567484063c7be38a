import { expect } from "vitest";
import { pack } from "../../src/protocol/codec.js";
import { runKeys } from "../../src/redis/keys.js";
import { coloursOf, open, seriesOf, test, useBrowser } from "../helpers/browser.js";
import { eventually } from "../helpers/eventually.js";
import { resultHeader, specOf } from "../helpers/page-runs.js";
import { useServed } from "../helpers/served.js";
import { FakeRun } from "../helpers/watched-broker.js";

const HOSTILE = `<img src=x onerror="window.__hit=1">'"&\u202e${"long".repeat(30)}`;
const STEPS = 5_000;

const served = useServed();
const browser = useBrowser();

const api = async <T>(path: string): Promise<T> =>
  (await fetch(`${served.broker.ready.http}/api/v1${path}`)).json() as Promise<T>;
const recordsOf = async (run: string): Promise<number> =>
  (await api<{ runs: { run: string; records: number }[] }>("/overview")).runs.find((r) => r.run === run)?.records ?? 0;

test("5,000 steps: drawn, thinned by the API, the newest ones whole", {
  timeout: 120_000,
}, async () => {
  const long = await FakeRun.mount(served.redis, "long", [specOf("main")]);
  const { incarnation } = long.handle;
  for (let from = 1; from <= STEPS; from += 500) {
    const pipeline = served.redis.raw.pipeline();
    for (let step = from; step < from + 500; step++) {
      const notice = { kind: "settled", run: "long", inc: incarnation, step: `${step}.0`, pipeline: "main", ms: 12 };
      const header = Buffer.from(pack(resultHeader("main", step)));
      pipeline.xadd(runKeys("long").notices, "*", ...Object.entries(notice).flat(), "header", header);
    }
    await pipeline.exec();
  }
  await eventually(async () => (await recordsOf("long")) === STEPS + 1, {
    what: "the whole history",
    timeoutMs: 60_000,
  });
  const thin = await api<{ records: { step?: number }[] }>("/runs/long/steps?after=0&every=100&limit=1000");
  const [mounted, ...ofSteps] = thin.records;
  expect(mounted?.step).toBeUndefined();
  expect(ofSteps.map((r) => r.step)).toEqual(Array.from({ length: 50 }, (_, i) => 100 * (i + 1)));
  const context = await browser.context();
  const { page, complaints } = await open(context, `${served.broker.ready.http}/#run=long`);
  await eventually(async () => (await seriesOf(page)).length === STEPS, { timeoutMs: 20_000 });
  await eventually(async () => (await coloursOf(page, "#ess")) > 4);
  await page.getByRole("button", { name: `Step ${STEPS}`, exact: true }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test("50 runs, one with a hostile name, failures with hostile texts: all shown as text, nothing runs", async () => {
  for (let i = 0; i < 49; i++) await FakeRun.mount(served.redis, `run-${i}`, [specOf("main")]);
  const hostile = await FakeRun.mount(served.redis, HOSTILE, [specOf("main"), specOf("<b>mix</b>")]);
  await hostile.settle("1.0", resultHeader("main", 1));
  await hostile.fail("2.0", "NON_FINITE");
  await eventually(async () => (await recordsOf(HOSTILE)) === 3, { what: "the hostile run's history" });
  const context = await browser.context();
  const { page, complaints } = await open(context, `${served.broker.ready.http}/#run=${encodeURIComponent(HOSTILE)}`);
  await eventually(async () => (await page.locator("#runs li").count()) >= 50, { what: "50 runs in the list" });
  await page.locator("#run-title").getByText(HOSTILE).waitFor();
  await page.locator("#errors").getByText("NON_FINITE").waitFor();
  await page.locator("#errors button").first().click();
  await page.getByRole("dialog").getByText("NON_FINITE").waitFor();
  expect(await page.evaluate("window.__hit")).toBeUndefined();
  expect(await page.locator("#run img, #runs img, #runs b, dialog b").count()).toBe(0);
  const wide = await page.evaluate("document.documentElement.scrollWidth");
  expect(Number(wide)).toBeLessThanOrEqual(1440);
  expect(complaints).toEqual([]);
  await context.close();
});

test("an address that names a run to come shows it once it is mounted; a choice by hand stands in the address", async () => {
  const context = await browser.context();
  const { page } = await open(context, `${served.broker.ready.http}/#run=to%20come`);
  await page.locator("#run-title").waitFor();
  await FakeRun.mount(served.redis, "to come", [specOf("main")]);
  await page.getByRole("heading", { name: "to come", exact: true }).waitFor();
  await page.locator("#runs").getByRole("button", { name: "run-7", exact: false }).click();
  await page.getByRole("heading", { name: "run-7", exact: true }).waitFor();
  expect(new URL(page.url()).hash).toBe("#run=run-7");
  await context.close();
});

test("a step without numbers, all weights 0, and NaN in what a worker says: the page goes on", async () => {
  const odd = await FakeRun.mount(served.redis, "odd", [specOf("main")]);
  const { stats: _, distribution: __, ...bare } = resultHeader("main", 1);
  await odd.settle("1.0", bare);
  const nan = resultHeader("main", 2);
  await odd.settle("2.0", {
    ...nan,
    stats: { ...nan.stats!, mean: Number.NaN, ess_ratio: Number.NaN },
    timings: { score: Number.POSITIVE_INFINITY },
  });
  const zero = { ...nan.stats!, mean: 0, std: 0, min: 0, max: 0, ess_ratio: 0, kept_ratio: 0, zero_ratio: 1 };
  const counts = nan.distribution!.weights!.counts.map(() => 0);
  await odd.settle("3.0", {
    ...nan,
    stats: zero,
    distribution: { weights: { counts, sum: 0, quantiles: [0, 0, 0, 0, 0] } },
  });
  await eventually(async () => (await recordsOf("odd")) === 4);
  const context = await browser.context();
  const { page, complaints } = await open(context, `${served.broker.ready.http}/#run=odd`);
  await eventually(async () => (await seriesOf(page)).join() === "1,2,3");
  await page.getByRole("button", { name: "Step 2", exact: true }).click();
  await page.getByRole("dialog").getByText("–").first().waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});
