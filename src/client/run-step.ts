import type { FieldInput } from "../columns/input.js";
import type { Stage } from "../protocol/stages.js";
import type { Unlinked } from "../redis/scripts/release.js";
import type { PutReceipt } from "./neutral.js";
import type { PutOptions, WeightsOptions } from "./run-options.js";
import type { StepResult } from "./step-result.js";

export type Released = Unlinked | "UNAVAILABLE";

/** What a step asks of its run. */
interface OwnRun {
  put(
    step: number,
    stage: Stage,
    fields: Readonly<Record<string, FieldInput>>,
    options?: PutOptions,
  ): Promise<PutReceipt>;
  weights(step: number, options?: WeightsOptions): Promise<StepResult>;
  release(step: number, options?: { trigger?: number }): Promise<Released>;
}

/** One step of a run, with its number and trigger given once. */
export class RunStep {
  readonly step: number;
  readonly trigger: number;
  readonly #run: OwnRun;
  #released: Promise<Released> | undefined;

  constructor(run: OwnRun, step: number, trigger: number) {
    this.#run = run;
    this.step = step;
    this.trigger = trigger;
  }

  /** As `Run.put`. */
  put(
    stage: Stage,
    fields: Readonly<Record<string, FieldInput>>,
    options: Omit<PutOptions, "trigger"> = {},
  ): Promise<PutReceipt> {
    return this.#run.put(this.step, stage, fields, { ...options, trigger: this.trigger });
  }

  /** As `Run.weights`. */
  weights(options: Omit<WeightsOptions, "trigger"> = {}): Promise<StepResult> {
    return this.#run.weights(this.step, { ...options, trigger: this.trigger });
  }

  /** As `Run.release`, once. */
  release(): Promise<Released> {
    this.#released ??= this.#run.release(this.step, { trigger: this.trigger });
    return this.#released;
  }
}
