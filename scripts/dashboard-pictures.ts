// Pictures of the dashboards for docs/dashboards.md: runs that are well and runs that fall ill, on a real system watched by a real Prometheus
// with our rules. Panels are drawn from the dashboards' files and from the answers to their queries; it is not Grafana that draws them.
// Takes some eight minutes. `npm run build && npx tsx scripts/dashboard-pictures.ts`
import { mkdirSync, statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type ServiceProcess, spawnService, startPrivateRedis } from "dataflex-mq/server";
import { ReleaseStack } from "../src/lifecycle.js";
import { launchBrowser } from "../test/helpers/browser.js";
import { startPrometheus } from "../test/helpers/prometheus.js";
import { alertsOf, queuesOf } from "./pictures/alerts.js";
import { askPanel, panelsNamed, panelsOf, TRAINING, type Window } from "./pictures/ask.js";
import type { Picture } from "./pictures/browser/types.js";
import { pictureTaker } from "./pictures/paint.js";
import { FIRST_STEPS, PLUGINS, SCENARIOS, type Scenario } from "./pictures/scenarios.js";
import { train } from "./pictures/train.js";

/** Alerts that ask for five minutes fire after an illness of more than that. */
const MINUTES = 7.5;
const images = fileURLToPath(new URL("../docs/images/", import.meta.url));

const stack = new ReleaseStack();
try {
  const redis = await startPrivateRedis(["--maxmemory", "512mb"]);
  stack.push(() => redis.stop());
  const start = async (role: "broker" | "worker", ...args: string[]): Promise<ServiceProcess> => {
    const service = await spawnService(role, ["--redis", redis.url, "--http", "127.0.0.1:0", ...args]);
    stack.push(() => service.stop());
    return service;
  };
  const broker = await start("broker");
  const slowing = await start("worker", "--slots", "2", "--plugin", PLUGINS.slowing);
  const doomed = await start("worker", "--slots", "1", "--plugin", PLUGINS.orphan);
  const workers = [await start("worker", "--slots", "2"), slowing, doomed];
  const prometheus = await startPrometheus({
    "dataflex-broker": [broker.ready.http],
    "dataflex-worker": workers.map((w) => w.ready.http),
  });
  stack.push(() => prometheus.stop());

  const trainings = await Promise.all(
    SCENARIOS.map((s) => train(redis.url, s, async () => s.losesWorkers && (await doomed.stop()))),
  );
  while (trainings.some((t) => t.step() < FIRST_STEPS)) await pause(1_000);
  const from = Math.ceil(Date.now() / 1000);
  await pause(MINUTES * 60_000);
  const window: Window = { from, to: Math.floor(Date.now() / 1000) };

  const browser = await launchBrowser();
  stack.push(() => browser.close());
  const take = await pictureTaker(browser);
  mkdirSync(images, { recursive: true });
  for (const [i, scenario] of SCENARIOS.entries()) {
    const queues = await queuesOf(prometheus.get, scenario.name, window.to);
    const set = { run: scenario.name, ...(queues.size > 0 && { queue: [...queues].join("|") }) };
    const illSince = scenario.panels && trainings[i]!.illSince();
    const alerts = await alertsOf(prometheus.get, scenario.name, queues, window);
    for (const [n, panels] of pagesOf(scenario).entries()) {
      const picture: Picture = {
        run: scenario.name,
        says: scenario.says,
        ill: illSince === undefined ? null : illSince / 1000 - from,
        panels: await Promise.all(panels.map((panel) => askPanel(prometheus.get, panel, set, window))),
        alerts,
      };
      const path = `${images}dashboard-${scenario.name}${n === 0 ? "" : `-${n + 1}`}.png`;
      await take(picture, path);
      const said = alerts.map((a) => `${a.name} ${a.state} since ${Math.round(a.since)} s`).join(", ");
      process.stdout.write(`${path}  ${Math.round(statSync(path).size / 1024)} KiB  ${said}\n`);
    }
  }
  for (const training of trainings) await training.stop();
} finally {
  await stack.release();
}

/** The whole dashboard is too long for one picture. */
function pagesOf({ panels }: Scenario) {
  if (panels) return [panelsNamed(panels)];
  const all = panelsOf(TRAINING);
  return [all.slice(0, all.length / 2), all.slice(all.length / 2)];
}
