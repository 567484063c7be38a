import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { type CliResult, dataflexMq } from "./cli.js";
import { type Fleet, startFleet } from "./fleet.js";

interface Pipeline {
  weights: number[] & number[][];
  kept?: number[];
  metrics: Record<string, number>;
  warnings: string[];
}

/** What `replay --json` prints. */
interface Answer {
  step: number;
  pipelines: Pipeline[];
  combined: number[] & number[][];
  evidence: { redis_run_id: string; stream_entries: number; job_ids: string[]; worker_pid: number };
}

export interface Replays {
  readonly fleet: Fleet;
  /** The command as it ended. */
  run(step: unknown, dataflex: unknown): Promise<CliResult>;
  /** Its answer; the test fails unless it exits 0 without a word on stderr. */
  answer(step: unknown, dataflex: unknown): Promise<Answer>;
  /** Weights of the first pipeline, token weights row after row. */
  weights(step: unknown, dataflex: unknown): Promise<number[]>;
}

/** Replays through one fleet of real services, started and stopped with the test file that asks for it. */
export function replays(): Replays {
  let fleet: Fleet;
  let folder: string;
  let files = 0;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "dfx-replay-"));
    fleet = await startFleet({ brokers: 1, workers: 1 });
  });
  afterAll(async () => {
    await fleet.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const write = (value: unknown): string => {
    const file = join(folder, `${++files}.json`);
    writeFileSync(file, JSON.stringify(value));
    return file;
  };
  const run = (step: unknown, dataflex: unknown): Promise<CliResult> => {
    const where = ["--redis", fleet.url, "--timeout-ms", "20000", "--json"];
    return dataflexMq(["replay", write(step), "--config", write({ dataflex }), ...where]);
  };
  const answer = async (step: unknown, dataflex: unknown): Promise<Answer> => {
    const { code, out, err } = await run(step, dataflex);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    return JSON.parse(out) as Answer;
  };
  return {
    get fleet() {
      return fleet;
    },
    run,
    answer,
    weights: async (step, dataflex) => (await answer(step, dataflex)).pipelines[0]!.weights.flat(),
  };
}

type Ref = readonly [name: string, params?: object];

/** A `dataflex:` block of one pipeline. */
export function block(mechanism: string, scorer: Ref, actuator: Ref, more: object = {}): object {
  const ref = ([name, params = {}]: Ref): object => ({ name, params });
  return { mechanism, scorer: ref(scorer), actuator: ref(actuator), ...more };
}

/** One row a reward, each of one token. */
export function rowsOf(rewards: readonly number[]): object {
  return { fields: { rm_scores: rewards.map((r) => [r]), response_mask: rewards.map(() => [1]) } };
}
