import { type Logger, pino } from "pino";

export type { Logger };

/** Log lines go to stderr (stdout is for results); `DFX_LOG` sets the level (default info). Fixed fields: role, id, run, step, pipeline, job. */
export function createLogger(role: string, bindings: Record<string, unknown> = {}): Logger {
  return pino(
    { level: process.env.DFX_LOG ?? "info", base: { role, ...bindings } },
    pino.destination({ fd: 2, sync: true }),
  );
}

/** For library use: says nothing. */
export const silentLogger: Logger = pino({ level: "silent" });
