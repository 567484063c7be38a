import { randomUUID } from "node:crypto";
import { Client } from "../../client/client.js";
import { defined } from "../../defined.js";
import { sleep } from "../../lifecycle.js";
import { resolveMount } from "../../mounting/catalogue/resolve.js";
import { configError } from "../../mounting/config/problems.js";
import { bestEffort, withServices } from "../services/for-command.js";
import { type OwnComponents, ownCatalogues } from "../services/own-components.js";
import { removeRun } from "../services/remove-run.js";
import { DEMO_FIELDS, type Exchange } from "./demo-record.js";
import { exchangeStep } from "./exchange.js";
import { type StepOutcome, type StepResult, trainLoop, unweightedStep } from "./loop.js";
import { type DemoSummary, summarise } from "./summary.js";
import { createTrainer, DEFAULT_SETTINGS } from "./trainer.js";

export interface DemoOptions {
  readonly steps: number;
  readonly seed: number;
  /** The `dataflex:` block to mount. */
  readonly dataflex: unknown;
  /** Absent: a private Redis. */
  readonly redisUrl?: string;
  /** Of the workers that are started. */
  readonly components?: OwnComponents;
  /** Pause between steps, so that a person can follow on the page. Default 0. */
  readonly pauseMs?: number;
  /** Called when services are up; `page` is the address of their live page. */
  onServices?(page: string | undefined): void;
  /** Called when all steps are done; services and history stay up until its promise resolves. */
  onTrained?(summary: DemoSummary): Promise<void>;
  /** Called when the run is mounted and about to train. */
  onStart?(started: DemoStart): void;
  onStep(result: StepResult<Exchange>, unweighted: StepOutcome): void;
}

export interface DemoStart {
  readonly run_id: string;
  readonly redis_url: string;
  /** Services were started for the demo; false: they were running at the address. */
  readonly own_services: boolean;
  readonly pipelines: readonly string[];
  readonly warnings: readonly string[];
}

/** What the demo's trainer reports about itself when it mounts. */
const DEMO_TRAINER = {
  adv_estimator: "grpo",
  group_size: DEFAULT_SETTINGS.samples,
  provides: DEMO_FIELDS,
} as const;

/** Two, so that the stages of a step can be served side by side. */
const WORKERS = 2;
/** Processes that were just started need some seconds on a slow machine. */
const MOUNT_TIMEOUT_MS = 30_000;

/**
 * Trains the small GRPO run twice from the same seed: with the weights that come back through Redis, broker and workers, and
 * without any. Leaves no process, socket or key behind.
 *
 * @throws CONFIG for a configuration that cannot be mounted; what settled a pipeline; TIMEOUT
 */
export async function runDemo(options: DemoOptions): Promise<DemoSummary> {
  const { steps, seed, dataflex, redisUrl, components = {} } = options;
  if (redisUrl === undefined) await refuseUnfit(dataflex, components); // services at an address may have more components than these
  const plain = createTrainer(seed);
  const unweighted: StepOutcome[] = [];
  const weighted: StepOutcome[] = [];
  const summary = (): DemoSummary => summarise(weighted, unweighted, seed);
  await withServices({ workers: WORKERS, components, ...defined({ redisUrl }) }, async (services) => {
    options.onServices?.(services.page);
    const client = await Client.connect({ redisUrl: services.redisUrl });
    try {
      const run_id = `demo-${randomUUID().slice(0, 8)}`;
      const run = await client.mount({ run_id, dataflex, ...DEMO_TRAINER, timeoutMs: MOUNT_TIMEOUT_MS });
      try {
        const { pipelines, warnings } = run.handle;
        options.onStart?.({
          run_id,
          redis_url: services.redisUrl,
          own_services: services.own,
          pipelines: pipelines.map((p) => p.name),
          warnings,
        });
        for await (const result of trainLoop({ steps, seed }, (rollout) => exchangeStep(run, rollout))) {
          const { step, reward, params_sha256 } = result;
          weighted.push({ step, reward, params_sha256 });
          const beside = unweightedStep(plain, step);
          unweighted.push(beside);
          options.onStep(result, beside);
          if (options.pauseMs !== undefined) await sleep(options.pauseMs);
        }
        await options.onTrained?.(summary());
      } finally {
        await bestEffort(async () => {
          await run.close();
          await removeRun(services.redisUrl, run.handle);
        });
      }
    } finally {
      await bestEffort(() => client.close());
    }
  });
  return summary();
}

/**
 * Checks a block as its mount would, before any process is started for it.
 *
 * @throws CONFIG with every problem
 */
async function refuseUnfit(dataflex: unknown, components: OwnComponents): Promise<void> {
  const catalogues = await ownCatalogues(components);
  const resolved = resolveMount({ dataflex, mode: "live", ...DEMO_TRAINER }, catalogues);
  if (!resolved.ok) throw configError(resolved.problems);
}
