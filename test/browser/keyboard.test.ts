import type { Page } from "playwright-core";
import { expect } from "vitest";
import { open, seriesOf, test, useBrowser } from "../helpers/browser.js";
import { eventually } from "../helpers/eventually.js";
import { resultHeader, specOf } from "../helpers/page-runs.js";
import { useServed } from "../helpers/served.js";
import { FakeRun } from "../helpers/watched-broker.js";

const served = useServed();
const browser = useBrowser();

/** What has the focus, by the text that is read out. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(`{
    const { activeElement: at, body } = document;
    const label = document.getElementById(at.getAttribute("aria-labelledby") ?? "")?.textContent ?? at.getAttribute("aria-label");
    at === body ? "(the page)" : (label ?? at.textContent).replace(/\\s+/g, " ").trim();
  }`);

/** Tab until what has the focus is called so; it must be seen, and the focus must be drawn around it. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const passed: string[] = [];
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    const now = await focused(page);
    if (name.test(now)) {
      const ring = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle");
      expect([now, ring]).toEqual([now, "solid"]);
      return;
    }
    passed.push(now.slice(0, 40));
  }
  throw new Error(`Tab never came to ${name}; it passed ${passed.join(" | ")}`);
}

test("the whole page by keyboard: runs, pipelines, a chart's table, a step and back to it, though new steps came meanwhile", async () => {
  await FakeRun.mount(served.redis, "other", [specOf("main")]);
  const run = await FakeRun.mount(served.redis, "mine", [specOf("first"), specOf("second")]);
  const step = (n: number): Promise<void> => run.settle(`${n}.0`, resultHeader("first", n), resultHeader("second", n));
  for (let n = 1; n <= 5; n++) await step(n);
  await run.fail("6.0", "NON_FINITE");
  const context = await browser.context();
  const { page } = await open(context, `${served.broker.ready.http}/#run=other`);
  await page.getByRole("heading", { name: "other", exact: true }).waitFor();
  await page.locator("#errors").getByText("NON_FINITE").waitFor();

  await tabTo(page, /^Skip to the selected run$/);
  await page.keyboard.press("Enter");
  expect(await page.evaluate("document.activeElement.id")).toBe("run");
  await page.evaluate("document.activeElement.blur()");

  await tabTo(page, /mine/);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "mine", exact: true }).waitFor();
  await eventually(async () => (await seriesOf(page, "second")).length === 5, { what: "the run's steps" });
  await tabTo(page, /^second/);
  await page.keyboard.press("Enter");
  expect(await page.evaluate("document.activeElement.getAttribute('aria-pressed')")).toBe("true");
  expect(await focused(page)).toMatch(/^second/);

  await tabTo(page, /^As a table$/);
  await page.keyboard.press("Enter");
  await page.locator("#weights tbody tr").first().waitFor();
  await tabTo(page, /Weights of the last step, as a table/);

  await tabTo(page, /^Step 5$/);
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByText("Timings").first().waitFor();
  expect(await focused(page)).toBe("Close");
  for (let i = 0; i < 8; i++) {
    await page.keyboard.press("Tab");
    const inside = await page.evaluate(
      "document.activeElement.closest('dialog') !== null || document.activeElement === document.body",
    );
    expect(inside).toBe(true);
  }
  await step(7);
  await page.locator("#run").getByText("Step 7", { exact: true }).last().waitFor({ state: "attached" });
  await eventually(async () => (await page.locator("#run button[data-key='7']").count()) === 1, {
    what: "the newest row",
  });
  await page.keyboard.press("Escape");
  await eventually(async () => (await focused(page)) === "Step 5", { what: "the focus back on the step" });
  await step(8);
  await eventually(async () => (await page.locator("#run button[data-key='8']").count()) === 1, {
    what: "the newest row",
  });
  expect(await focused(page)).toBe("Step 5");

  await tabTo(page, /^6$/);
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByText("NON_FINITE").waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  expect(await focused(page)).toBe("6");
  await context.close();
});
