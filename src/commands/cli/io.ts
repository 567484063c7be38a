import { shownText } from "../../redact.js";

/** What a command may use of its process; tests pass their own. */
export interface Io {
  /** Results. */
  out(text: string): void;
  /** Errors, warnings, progress. */
  err(text: string): void;
  /** Of the terminal; texts above cannot, since what they hold may come from anybody. */
  clear(what: "line" | "screen"): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** stdout is a terminal that wants colours and redrawn lines: a TTY without NO_COLOR. */
  readonly fancy: boolean;
  /** Characters in a line of the terminal; undefined if stdout is not one. */
  readonly columns?: number | undefined;
}

export function processIo(): Io {
  const fancy = process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
  return {
    out: (text) => void process.stdout.write(shownText(text)),
    err: (text) => void process.stderr.write(shownText(text)),
    clear: (what) => void process.stdout.write(what === "line" ? "\r\u001b[K" : "\u001b[2J\u001b[H"),
    env: process.env,
    fancy,
    // Read each time: a terminal may be resized.
    get columns() {
      return process.stdout.isTTY === true ? process.stdout.columns : undefined;
    },
  };
}
