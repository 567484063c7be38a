import type { Logger } from "../log.js";
import type { Backend } from "./compute/thread-messages.js";
import type { JobExecution } from "./job-context.js";
import type { PythonSettings } from "./python/python-slots.js";

export interface WorkerOptions {
  readonly redisUrl: string;
  readonly log?: Logger;
  /** Jobs at once, each with a compute thread of its own. Default 1. */
  readonly slots?: number;
  /** Default `auto`. */
  readonly backend?: Backend;
  /** TypeScript or JavaScript files and packages; Python files (`.py`). */
  readonly plugins?: readonly string[];
  /** How the Python files among the plugins are run. */
  readonly python?: PythonSettings;
  /** Longest time one job may compute, in ms. Default 10 minutes. */
  readonly computeLimitMs?: number;
  readonly onExecution?: (execution: JobExecution) => void;
}

export const WORKER_DEFAULTS = { slots: 1, backend: "auto", computeLimitMs: 600_000 } as const;
