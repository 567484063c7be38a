import type { Run } from "dataflex-mq";
import { runBroker, runWorker } from "dataflex-mq/server";
import { beforeAll, expect } from "vitest";
import { binLabels } from "../../src/observe/page/bins.js";
import { SCORE_EDGES, WEIGHT_EDGES } from "../../src/scoring/distribution.js";
import { advantageStep, REWEIGHT, valuesOf } from "../helpers/batches.js";
import { coloursOf, open, seriesOf, test, useBrowser } from "../helpers/browser.js";
import { eventually } from "../helpers/eventually.js";
import { Fleet } from "../helpers/processes.js";
import { useServed } from "../helpers/served.js";

const served = useServed({});
let run: Run;
const browser = useBrowser();
const fleet = new Fleet();

beforeAll(async () => {
  run = await served.client.mount({ run_id: "live", dataflex: REWEIGHT, adv_estimator: "grpo", timeoutMs: 20_000 });
});

/** A record of a step as the API sends it. */
interface Result {
  readonly kind: string;
  readonly step: number;
  readonly stats: { readonly ess_ratio: number };
  readonly weight_bins: number[];
  readonly score_bins: number[];
}
const upTo = (last: number): number[] => Array.from({ length: last }, (_, i) => i + 1);

async function train(steps: readonly number[]): Promise<void> {
  for (const step of steps) {
    const batch = advantageStep(valuesOf(step, 32));
    await run.put(step, "post_advantage", { ...batch });
    (await run.weights(step)).rolloutIsWeights(batch.response_mask);
    await run.release(step);
  }
}

test("before the first step the page says so, and each step shows within two seconds, with the broker's own numbers", async () => {
  const context = await browser.context();
  const { page, complaints } = await open(context, served.broker.ready.http);
  await page.getByRole("heading", { name: "live", exact: true }).waitFor();
  await page.getByText("No step yet").first().waitFor();

  await train([1]);
  await eventually(async () => (await seriesOf(page)).length === 1, { what: "step 1 on the page", timeoutMs: 2_000 });
  await train(upTo(20).slice(1));
  await eventually(async () => (await seriesOf(page)).join() === upTo(20).join(), {
    what: "20 steps",
    timeoutMs: 3_000,
  });

  await eventually(async () => (await page.locator(".current").textContent()) === "Step 20", {
    what: "the step's number",
  });

  const response = await fetch(`${served.broker.ready.http}/api/v1/runs/live/steps?limit=50`);
  const { records } = (await response.json()) as { records: Result[] };
  const [before, last] = records.filter((r) => r.kind === "result").slice(-2) as [Result, Result];
  expect(last.step).toBe(20);
  const ess = String(Number(last.stats.ess_ratio.toPrecision(3)));
  const tile = page.locator('[data-name="Effective sample"] dd');
  await eventually(async () => (await tile.textContent())?.endsWith(ess), { what: `ESS ${ess}` });
  for (const [figure, bins, edges] of [
    ["#weights", "weight_bins", WEIGHT_EDGES],
    ["#scores", "score_bins", SCORE_EDGES],
  ] as const) {
    await page.locator(`${figure} summary`).click();
    await page.locator(`${figure} tbody tr`).first().waitFor();
    const column = (n: number): Promise<string[]> =>
      page.locator(`${figure} tbody td:nth-child(${n})`).allTextContents();
    const [labels, now, earlier] = await Promise.all([column(1), column(2), column(3)]);
    const places = labels.map((label) => binLabels(edges).indexOf(label));
    expect(now.map(Number)).toEqual(places.map((place) => last[bins][place]));
    expect(earlier.map(Number)).toEqual(places.map((place) => before[bins][place]));
    expect(now.map(Number).reduce((a, b) => a + b, 0)).toBe(32);
  }
  for (const figure of ["#weights", "#scores", "#ess", "#mean", "#wait"]) {
    expect([figure, (await coloursOf(page, figure)) > 4]).toEqual([figure, true]);
  }
  expect(complaints).toEqual([]);
  await context.close();
});

test("a step opens by keyboard alone: statistics, timings, lowest and highest weighted rows", async () => {
  await train([21]);
  const context = await browser.context();
  const { page } = await open(context, served.broker.ready.http);
  const step = page.getByRole("button", { name: "Step 21", exact: true });
  await step.focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Lowest weights").first().waitFor();
  const text = (await dialog.textContent()) ?? "";
  for (const part of ["effective sample size", "Timings", "fetch", "Highest weights", "All pipelines together"])
    expect(text).toContain(part);
  expect(await dialog.locator("tbody tr").count()).toBe(20);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  await context.close();
});

test("the page follows its policy, fits 360 and 1440 pixels, dark and light, and every control has a name", async () => {
  const response = await fetch(served.broker.ready.http);
  expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'self';/);
  for (const [width, dark] of [
    [360, true],
    [1440, false],
  ] as const) {
    const context = await browser.context({ width, dark });
    const { page, complaints } = await open(context, served.broker.ready.http);
    await page.locator("#ess canvas").waitFor();
    const wide = await page.evaluate("document.documentElement.scrollWidth");
    expect([width, Number(wide) <= width]).toEqual([width, true]);
    const nameless = await page.evaluate(
      `[...document.querySelectorAll("button, summary, a")].filter((e) => e.textContent.trim() === "" && !e.getAttribute("aria-label")).length`,
    );
    expect(nameless).toBe(0);
    const elsewhere = await page.evaluate(
      `performance.getEntriesByType("resource").filter((e) => new URL(e.name).origin !== location.origin).length`,
    );
    expect(elsewhere).toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
  }
});

test("seven tabs share one stream; a hidden one lets it go, another takes it up", async () => {
  const context = await browser.context();
  const tabs = await Promise.all(Array.from({ length: 7 }, () => open(context, served.broker.ready.http)));
  const reads = (page: (typeof tabs)[number]["page"]): Promise<boolean> => page.evaluate("__dataflex.reads()");
  const readers = async (): Promise<boolean[]> => Promise.all(tabs.map(({ page }) => reads(page)));
  await eventually(async () => (await readers()).filter(Boolean).length === 1, { what: "one reading tab" });
  await train([22]);
  for (const { page } of tabs)
    await eventually(async () => (await seriesOf(page)).includes(22), { what: "step 22 in every tab" });

  const first = (await readers()).indexOf(true);
  const closed = tabs[first]!.page.waitForEvent("requestfailed", (request) => request.url().includes("/api/v1/events"));
  await tabs[first]!.page.evaluate(`
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  `);
  await eventually(async () => !(await reads(tabs[first]!.page)) && (await readers()).filter(Boolean).length === 1, {
    what: "another reading tab",
  });
  await closed;
  await train([23]);
  for (const [i, { page }] of tabs.entries()) {
    if (i !== first)
      await eventually(async () => (await seriesOf(page)).includes(23), { what: "step 23 in every visible tab" });
  }
  expect(await seriesOf(tabs[first]!.page)).not.toContain(23);
  await tabs[first]!.page.evaluate(`
    Object.defineProperty(document, "hidden", { value: false, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  `);
  await eventually(async () => (await seriesOf(tabs[first]!.page)).includes(23), { what: "step 23 after the return" });
  await context.close();
});

test("a worker that is killed shows in the banner; a broker that comes back shows what happened meanwhile, each step once", async () => {
  const context = await browser.context();
  const { page } = await open(context, served.broker.ready.http);
  await page.locator("#ess canvas").waitFor();
  // The last worker is killed: nothing in it gets to say so.
  const doomed = await fleet.spawn("worker", served.redis.url);
  await served.worker.stop();
  await eventually(async () => (await page.locator("#workers tbody tr").count()) === 1, { what: "one worker" });
  await fleet.kill(doomed);
  await eventually(async () => (await page.locator("#banner").textContent())?.includes("no worker serves"), {
    what: "the banner",
    timeoutMs: 20_000,
  });
  served.worker = await runWorker(served.redis.url, { http: "127.0.0.1:0" });
  await eventually(async () => (await page.locator("#banner").textContent())?.includes("All is well"), {
    timeoutMs: 20_000,
  });

  const { http } = served.broker.ready;
  await served.broker.stop();
  await page.getByText("reconnecting").waitFor();
  await page.getByText("The broker does not answer").waitFor();
  served.broker = await runBroker(served.redis.url, { http: new URL(http).host });
  await train([24, 25]);
  await page.getByText("● live", { exact: true }).waitFor();
  await eventually(async () => (await seriesOf(page)).join() === upTo(25).join(), {
    what: "each step once",
    timeoutMs: 20_000,
  });
  await context.close();
});
