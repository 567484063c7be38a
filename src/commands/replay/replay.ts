import { randomUUID } from "node:crypto";
import { Client } from "../../client/client.js";
import type { Run } from "../../client/run.js";
import { defined } from "../../defined.js";
import { locateMountError } from "../../mounting/config/problems.js";
import type { Stage } from "../../protocol/stages.js";
import { bestEffort, withServices } from "../services/for-command.js";
import { type OwnComponents, ownCatalogues } from "../services/own-components.js";
import { removeRun } from "../services/remove-run.js";
import { pipelineAnswers, plainWeights, type ReplayAnswer } from "./answer.js";
import { gatherEvidence } from "./evidence.js";
import { planReplay, type ReplayPlan, refuseWithoutGroups } from "./plan.js";
import { readStep } from "./read-input.js";
import type { RecordedStep } from "./recorded-step.js";
import { pickFields, sessionsOf } from "./replay-fields.js";

export interface ReplayOptions {
  readonly file: string;
  readonly configFile: string;
  /** Absent: a private Redis. */
  readonly redisUrl?: string;
  readonly advEstimator?: string;
  /** Of the worker that is started. */
  readonly components?: OwnComponents;
  /** From the mount to the weights. */
  readonly timeoutMs: number;
}

/**
 * Posts a recorded step through Redis, broker and worker and returns the result. Leaves nothing behind: services and
 * Redis that it started are stopped, its keys on a Redis of the user's are removed.
 *
 * @throws INVALID_INPUT, CONFIG (exit 2) before anything is started; what settled a pipeline; NO_WORKER, TIMEOUT
 */
export async function replay(options: ReplayOptions): Promise<{ step: RecordedStep; answer: ReplayAnswer }> {
  const clock = stopwatch();
  const { file, configFile, redisUrl, advEstimator, components } = options;
  const step = await readStep(file);
  const plan = await planReplay(step, {
    file,
    configFile,
    catalogues: await ownCatalogues(components ?? {}),
    complete: redisUrl === undefined,
    ...defined({ advEstimator }),
  });
  clock.lap("read_ms");
  const answer = await withServices({ workers: 1, ...defined({ redisUrl, components }) }, async (services) => {
    clock.lap("start_ms");
    const client = await Client.connect({ redisUrl: services.redisUrl });
    try {
      return await replayOn(client, services.redisUrl, step, plan, options, clock);
    } finally {
      await bestEffort(() => client.close());
    }
  });
  return { step, answer };
}

async function replayOn(
  client: Client,
  redisUrl: string,
  step: RecordedStep,
  plan: ReplayPlan,
  { file, timeoutMs }: ReplayOptions,
  clock: Stopwatch,
): Promise<ReplayAnswer> {
  const { adv_estimator, trainer } = plan;
  const end = performance.now() + timeoutMs;
  const left = (): number => Math.max(1, Math.ceil(end - performance.now()));
  const run = await client
    .mount({
      run_id: `replay-${randomUUID()}`,
      dataflex: plan.config.dataflex,
      provides: plan.provides,
      timeoutMs: left(),
      ...defined({ adv_estimator, trainer }),
    })
    .catch((error: unknown) => {
      throw locateMountError(error, plan.config);
    });
  try {
    refuseWithoutGroups(file, step, run.handle.pipelines);
    clock.lap("mount_ms");
    await putStep(run, file, step);
    clock.lap("put_ms");
    const result = await run.weights(step.step, { timeoutMs: left() });
    if (result.neutral !== undefined) throw result.neutral; // a replay without weights has failed, whatever a trainer would do
    clock.lap("wait_ms");
    return {
      step: step.step,
      ...defined({ adv_estimator }),
      pipelines: pipelineAnswers(step, result),
      combined: plainWeights(step, result.combined),
      timings: clock.laps,
      evidence: await gatherEvidence(redisUrl, run.handle, result),
      notes: [...plan.notes, ...run.handle.warnings],
    };
  } finally {
    await bestEffort(async () => {
      await run.release(step.step);
      await run.close();
      await removeRun(redisUrl, run.handle);
    });
  }
}

/** Puts, stage by stage, exactly the fields that the handle asks for. */
async function putStep(run: Run, file: string, step: RecordedStep): Promise<void> {
  for (const [stage, needs] of Object.entries(run.handle.stages)) {
    const fields = pickFields(
      file,
      step,
      needs.map(({ name }) => name),
      run.handle.pipelines.flatMap(({ domain_key }) => domain_key ?? []),
    );
    const sessions = fields.uid === undefined ? {} : sessionsOf(step);
    const ragged = Object.values(fields).some(({ kind }) => kind === "jagged");
    await run.put(
      step.step,
      stage as Stage,
      { ...fields, ...sessions },
      {
        total_rows: step.rows,
        ...(step.lengths === undefined || ragged ? {} : { lengths: step.lengths }),
        ...defined({ is_padding: step.is_padding && Array.from(step.is_padding, (flag) => flag === 1) }),
      },
    );
  }
}

interface Stopwatch {
  readonly laps: Record<string, number>;
  lap(name: string): void;
}

/** Milliseconds between laps, on the monotonic clock. */
function stopwatch(): Stopwatch {
  const laps: Record<string, number> = {};
  let last = performance.now();
  return {
    laps,
    lap(name) {
      const now = performance.now();
      laps[name] = now - last;
      last = now;
    },
  };
}
