import { expect } from "vitest";
import { rewardStep, SELECT } from "../helpers/batches.js";
import { open, test, useBrowser } from "../helpers/browser.js";
import { eventually } from "../helpers/eventually.js";
import { useServed } from "../helpers/served.js";

const served = useServed({});
const browser = useBrowser();

test("rows of a pipeline that looks at groups are shown with their uids and scores", async () => {
  const grouped = await served.client.mount({
    run_id: "grouped",
    dataflex: SELECT,
    adv_estimator: "grpo",
    timeoutMs: 20_000,
  });
  // Of each group of four another number is right: solve rates of 0, 1/4, 2/4, 3/4, 1.
  const rewards = [0, 1, 2, 3, 4].flatMap((right) => [0, 1, 2, 3].map((i) => (i < right ? 1 : 0)));
  const step = rewardStep(rewards, 4);
  await grouped.put(1, "post_reward", { ...step });
  const { weights } = (await grouped.weights(1)).pipelines[0]!;
  await grouped.release(1);
  const context = await browser.context();
  const { page } = await open(context, `${served.broker.ready.http}/#run=grouped`);
  await page.getByRole("button", { name: "Step 1", exact: true }).click();
  const rows = page.getByRole("dialog").locator("tbody tr");
  await eventually(async () => (await rows.count()) === 20, { what: "ten lowest and ten highest rows" });
  for (const row of await rows.all()) {
    const [at, uid, weight, score] = await row.locator("td").allTextContents();
    expect(uid).toBe(step.uid[Number(at)]);
    expect(Number(weight)).toBeCloseTo(weights[Number(at)]!, 4);
    expect(Number(score)).toBe(Number(uid!.slice("prompt-".length)) / 4);
  }
  await context.close();
});
