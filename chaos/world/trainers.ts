import type { ProducerProcess } from "../producers/producer-process.js";

/** What events may do to a run's trainer. */
export interface Target {
  readonly owner: ProducerProcess | undefined;
  readonly ranks: readonly ProducerProcess[];
  /** Another trainer takes the run over while the old one is stopped; after `ms` the old one wakes. */
  usurp(ms: number): Promise<void>;
}
export type Trainers = readonly Target[];
