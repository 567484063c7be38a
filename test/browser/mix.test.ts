import { expect } from "vitest";
import { coloursOf, open, seriesOf, test, useBrowser } from "../helpers/browser.js";
import { mixBlock, shares } from "../helpers/domains.js";
import { eventually } from "../helpers/eventually.js";
import { useServed } from "../helpers/served.js";

const served = useServed({});
const browser = useBrowser();

/** Math is learnt while code stands still, so that the shares move from step to step. */
const rewards = (step: number) => ({
  math: Array.from({ length: 8 }, (_, i) => (i < step ? 1 : 0)),
  code: [1, 0, 0, 0, 0, 0, 0, 0],
});

test("a mixing run's proportions on the page are those that its trainer received, step by step", async () => {
  const run = await served.client.mount({ run_id: "mixed", dataflex: mixBlock("reward_gap"), timeoutMs: 20_000 });
  const received = new Map<number, number[]>();
  const train = async (step: number): Promise<void> => {
    received.set(step, await shares(run, step, rewards(step)));
    await run.release(step);
  };
  for (let step = 1; step <= 3; step++) await train(step);
  const context = await browser.context();
  const { page, complaints } = await open(context, served.broker.ready.http);
  await eventually(async () => (await seriesOf(page)).length === 3, { what: "the steps before the page was opened" });
  for (let step = 4; step <= 8; step++) await train(step);
  await eventually(async () => (await seriesOf(page)).length === 8, { what: "the steps after it was opened" });
  expect(new Set([...received.values()].map(([math]) => math)).size).toBeGreaterThan(4);

  await page.locator("#shares summary").click();
  const rows = page.locator("#shares tbody tr");
  await eventually(async () => (await rows.count()) === 8, { what: "a row a step" });
  const cells = await rows.evaluateAll((all) =>
    all.map((row) =>
      [...(row as unknown as { children: Iterable<{ textContent: string }> }).children].map((c) => c.textContent),
    ),
  );
  const shown = new Map(
    cells.map(([step, math, code]) => [Number(step), [math, code].map((t) => Number.parseFloat(t!) / 100)]),
  );
  for (const [step, [math, code]] of received) {
    const [m, c] = shown.get(step)!;
    expect(Math.abs(m! - math!), `math at step ${step}`).toBeLessThan(0.001);
    expect(Math.abs(c! - code!), `code at step ${step}`).toBeLessThan(0.001);
  }
  expect(await page.locator("#shares thead").textContent()).toBe("stepmathcode");
  expect(await coloursOf(page, "#shares")).toBeGreaterThan(4);
  for (const hidden of ["#weights", "#ess", "#mean"]) expect(await page.locator(hidden).isVisible()).toBe(false);
  expect(complaints).toEqual([]);
  await context.close();
});
