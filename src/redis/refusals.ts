import { DataflexError } from "../errors.js";
import { sleep } from "../lifecycle.js";
import { errorOf } from "../sentences.js";

/**
 * How a reachable Redis refuses commands, by the first word of its answer. `heals`: the refusal may pass, so the command is retried
 * until the caller's deadline. `elsewhere`: this server is not a master (any more), so the client reconnects, to the current master.
 */
const REFUSALS = {
  READONLY: { key: "REDIS_REFUSED.READONLY", heals: true, elsewhere: true },
  MASTERDOWN: { key: "REDIS_REFUSED.MASTERDOWN", heals: true, elsewhere: true },
  MISCONF: { key: "REDIS_REFUSED.MISCONF", heals: true, elsewhere: false },
  LOADING: { key: "REDIS_REFUSED.LOADING", heals: true, elsewhere: false },
  NOREPLICAS: { key: "REDIS_REFUSED.NOREPLICAS", heals: true, elsewhere: false },
  BUSY: { key: "REDIS_REFUSED.BUSY", heals: true, elsewhere: false },
  CLUSTERDOWN: { key: "REDIS_REFUSED.CLUSTERDOWN", heals: true, elsewhere: false },
  TRYAGAIN: { key: "REDIS_REFUSED.CLUSTERDOWN", heals: true, elsewhere: false },
  OOM: { key: "REDIS_FULL", heals: false, elsewhere: false },
  NOPERM: { key: "REDIS_DENIED", heals: false, elsewhere: false },
  // The last: a transaction names the refusal of one of its commands before it says that it was aborted.
  EXECABORT: { key: "REDIS_REFUSED.EXECABORT", heals: true, elsewhere: false },
} as const;
type RefusalWord = keyof typeof REFUSALS;
const WORDS = Object.keys(REFUSALS) as RefusalWord[];

/** How Redis 7.0 says NOPERM of a command inside a script. */
const NO_RIGHT_IN_SCRIPT = /^ERR The user executing the script can't (run|access)/;

/** The word with which Redis refused a command, also one inside a script or a transaction; undefined for any other error. */
export function refusalWord(error: unknown): RefusalWord | undefined {
  const { name, message, previousErrors = [] } = (error ?? {}) as Error & { previousErrors?: Error[] };
  if (name !== "ReplyError") return undefined;
  // Redis 6 quotes what a script's command was refused with: "ERR Error running script …: -READONLY You can't …".
  const texts = [message, ...previousErrors.map((e) => e.message)];
  if (texts.some((text) => NO_RIGHT_IN_SCRIPT.test(text))) return "NOPERM";
  return WORDS.find((word) => texts.some((text) => new RegExp(`(^|-)${word}\\b`).test(text)));
}

/** Whether what refuses here is no master: another server may be by now. */
export function isElsewhere(error: unknown): boolean {
  const word = refusalWord(error);
  return word !== undefined && REFUSALS[word].elsewhere;
}

/** A refusal of Redis as REDIS_REFUSED, REDIS_FULL or REDIS_DENIED; any other error as it is. `what` was attempted. */
export function typedRefusal(error: unknown, what: string): unknown {
  const word = refusalWord(error);
  if (word === undefined) return error;
  const answer = (error as Error).message;
  return errorOf(REFUSALS[word].key, { what, word, answer }, { what, word, answer }, { cause: error });
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;

/**
 * Retries `work` while Redis refuses it for a reason that may pass, until `end` (ms of performance.now). `full`: others may
 * free memory, so a full Redis is retried as well. `onRefused` is called for every refusal that is retried. Errors: the last refusal, typed.
 */
export async function whileRefused<T>(
  end: number,
  what: string,
  work: () => Promise<T>,
  { full = false, onRefused }: { full?: boolean; onRefused?: (refusal: DataflexError) => void } = {},
): Promise<T> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (thrown) {
      const error = typedRefusal(thrown, what);
      const refused = error instanceof DataflexError;
      const heals = refused && (error.code === "REDIS_REFUSED" || (full && error.code === "REDIS_FULL"));
      if (!heals || performance.now() + pause >= end) throw error;
      onRefused?.(error);
      await sleep(pause);
    }
  }
}
