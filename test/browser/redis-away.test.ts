import { runBroker } from "dataflex-mq/server";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { open, test, useBrowser } from "../helpers/browser.js";
import { startTestRedis, type TestRedis } from "../helpers/redis.js";

let redis: TestRedis;
let broker: Awaited<ReturnType<typeof runBroker>>;
const browser = useBrowser();

beforeAll(async () => {
  vi.stubEnv("DFX_LOG", "fatal");
  redis = await startTestRedis();
  broker = await runBroker(redis.url, { http: "127.0.0.1:0" });
});
afterAll(async () => {
  await broker?.stop();
  await redis?.stop();
});

test("a Redis that says nothing: the page says so, the API answers 503, and both recover by themselves", {
  timeout: 90_000,
}, async () => {
  const context = await browser.context();
  const { page } = await open(context, broker.ready.http);
  await page.locator("#banner").getByText("No run is live").waitFor();
  process.kill(redis.pid, "SIGSTOP");
  try {
    await page.locator(".banner.critical").getByText("Redis does not answer").waitFor();
    const response = await fetch(`${broker.ready.http}/api/v1/overview`);
    expect([response.status, await response.text()]).toEqual([503, expect.stringContaining("dataflex-mq doctor")]);
    const late = await open(context, broker.ready.http);
    await late.page.locator(".banner.critical").getByText("answered 503").waitFor();
    process.kill(redis.pid, "SIGCONT");
    for (const tab of [page, late.page]) await tab.locator("#banner").getByText("No run is live").waitFor();
  } finally {
    process.kill(redis.pid, "SIGCONT");
  }
  await context.close();
});
