import { type Logger, pino } from "pino";
import { DataflexError } from "./errors.js";
import { shownText } from "./redact.js";

export type { Logger };

/** Log lines go to stderr (stdout is for results); `DFX_LOG` sets the level (default info). Fixed fields: role, id, run, step, pipeline, job. */
export function createLogger(role: string, bindings: Record<string, unknown> = {}): Logger {
  const level = process.env.DFX_LOG || "info";
  const known = [...Object.keys(pino.levels.values), "silent"];
  if (!known.includes(level))
    throw new DataflexError("USAGE", `DFX_LOG is "${level}"; it must be one of ${known.join(", ")}`);
  return pino(
    { level, base: { role, ...bindings }, hooks: { streamWrite: shownText } },
    pino.destination({ fd: 2, sync: true }),
  );
}

/** How often a repeating error is logged. */
const AGAIN_MS = 10_000;

/**
 * A listener for errors that repeat: connections of a process whose Redis is away fail several times a second, and a log full of that
 * hides everything else. Each text is logged at once, then at most every ten seconds, with how often it occurred in between.
 */
export function throttledLog(
  write: (facts: { err: string; times?: number }) => void,
  now: () => number = () => performance.now(),
): (error: unknown) => void {
  const logged = new Map<string, { at: number; silent: number }>();
  return (error) => {
    const err = String(error);
    const before = logged.get(err);
    if (before && now() - before.at < AGAIN_MS) {
      before.silent++;
      return;
    }
    // Texts are few; should one hold an id, it must not stay forever.
    for (const [text, { at }] of logged) if (now() - at >= 6 * AGAIN_MS) logged.delete(text);
    logged.set(err, { at: now(), silent: 0 });
    write({ err, ...(before && before.silent > 0 && { times: before.silent + 1 }) });
  };
}

/** For library use: says nothing. */
export const silentLogger: Logger = pino({ level: "silent" });
