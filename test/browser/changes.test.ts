import { Client } from "dataflex-mq";
import { expect } from "vitest";
import { advantageStep, REWEIGHT, valuesOf } from "../helpers/batches.js";
import { open, paintedOf, seriesOf, test, useBrowser } from "../helpers/browser.js";
import { eventually } from "../helpers/eventually.js";
import { useServed } from "../helpers/served.js";

const served = useServed({});
/** The colour of changes in the light theme: --change. */
const MARK = "126,34,206,255";
const browser = useBrowser();

/** One life of the run's trainer, from a checkpoint before `steps[0]`. */
async function live(temperature: number, steps: readonly number[]): Promise<void> {
  const client = await Client.connect({ redisUrl: served.redis.url });
  const dataflex = { ...REWEIGHT, actuator: { name: "softmax", params: { temperature } } };
  const run = await client.mount({ run_id: "tuned", dataflex, adv_estimator: "grpo", timeoutMs: 20_000 });
  for (const step of steps) {
    await run.put(step, "post_advantage", { ...advantageStep(valuesOf(step, 16)) });
    await run.weights(step);
    await run.release(step);
  }
  await client.close();
}

test("a run that goes on with other settings is marked from that step on: chart, table, steps, and in words", async () => {
  await live(1, [1, 2, 3, 4, 5]);
  const context = await browser.context();
  const { page, complaints } = await open(context, served.broker.ready.http);
  await eventually(async () => (await seriesOf(page)).length === 5, { what: "the first life" });
  expect(await page.getByText("setup changed").count()).toBe(0);
  expect(await paintedOf(page, "#ess")).not.toContain(MARK);

  await live(0.5, [4, 5, 6]);
  const text = "main.actuator.temperature 1 → 0.5";
  await page.getByText(`◆ From step 4: ${text}`).waitFor();
  await eventually(async () => (await seriesOf(page)).join() === "1,2,3,4,5,6", { what: "the second life" });
  for (const chart of ["#ess", "#mean", "#wait"]) {
    await page.locator(chart).getByText("setup changed").waitFor();
    await page.locator(`${chart} summary`).click();
    const rows = page.locator(`${chart} tbody tr`);
    await eventually(async () => (await rows.count()) === 6, { what: `the table of ${chart}` });
    expect(await paintedOf(page, chart)).toContain(MARK);
    expect(await rows.locator("td:last-child").allTextContents()).toEqual(["", "", text, "", "", ""]);
  }
  const row = page.locator("#run tr", { has: page.getByRole("button", { name: "Step 4", exact: true }) });
  expect(await row.textContent()).toContain(`◆ ${text}`);

  // The same again after a reload, from the history alone.
  await page.reload();
  await page.getByText(`◆ From step 4: ${text}`).waitFor();
  expect(await seriesOf(page)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(complaints).toEqual([]);
  await context.close();
});
