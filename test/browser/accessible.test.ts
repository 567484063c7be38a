import type { Run } from "dataflex-mq";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { violationsOf } from "../helpers/axe.js";
import { advantageStep, REWEIGHT, valuesOf } from "../helpers/batches.js";
import { open, test, useBrowser } from "../helpers/browser.js";
import { useServed } from "../helpers/served.js";

const served = useServed({});
let pages: { name: string; page: Page }[];
const browser = useBrowser();

async function train(run: Run, step: number): Promise<void> {
  await run.put(step, "post_advantage", { ...advantageStep(valuesOf(step, 24)) });
  await run.weights(step);
  await run.release(step);
}

/** Every page, of either theme and width, once it is in a state. */
async function sound(state: string, enter: (page: Page) => Promise<unknown>): Promise<void> {
  for (const { name, page } of pages) {
    await enter(page);
    expect.soft([state, name, await violationsOf(page)]).toEqual([state, name, []]);
  }
}

test("no rule of axe is broken in any state, dark and light, narrow and wide", { timeout: 180_000 }, async () => {
  pages = [];
  for (const dark of [false, true])
    for (const width of [360, 1440]) {
      const context = await browser.context({ width, dark });
      const { page } = await open(context, served.broker.ready.http);
      pages.push({ name: `${width} ${dark ? "dark" : "light"}`, page });
    }
  await sound("no run", (page) => page.getByRole("heading", { name: "No run yet" }).waitFor());

  const run = await served.client.mount({
    run_id: "seen",
    dataflex: REWEIGHT,
    adv_estimator: "grpo",
    timeoutMs: 20_000,
  });
  await sound("no step", (page) => page.getByText("No step yet").first().waitFor());
  for (const step of [1, 2, 3]) await train(run, step);
  await sound("running", (page) => page.getByRole("button", { name: "Step 3", exact: true }).waitFor());
  await sound("a step's dialog", async (page) => {
    await page.getByRole("button", { name: "Step 3", exact: true }).click();
    await page.getByText("Highest weights").first().waitFor();
  });
  await sound("tables", async (page) => {
    await page.keyboard.press("Escape");
    for (const summary of await page.locator("summary:visible").all()) await summary.click();
    await page.locator("#ess tbody tr").nth(2).waitFor();
  });

  const settings = { ...REWEIGHT, actuator: { name: "softmax", params: { temperature: 2 } } };
  const mount = { run_id: "seen", dataflex: settings, adv_estimator: "grpo", takeover: true, timeoutMs: 20_000 };
  const again = await served.client.mount(mount);
  await train(again, 4);
  await sound("other settings", (page) => page.getByText("◆ From step 4").waitFor());

  await again.put(5, "post_advantage", { ...advantageStep([Number.NaN, 1, 2, 3]) });
  await again.weights(5).catch(() => {});
  await sound("a failed step", (page) => page.locator("#errors").getByText("NON_FINITE").waitFor());
  await served.worker.stop();
  await sound("no worker", (page) => page.locator(".banner.critical").getByText("No worker serves").waitFor());
  await served.broker.stop();
  await sound("no broker", (page) => page.getByText("The broker does not answer").waitFor());
});
