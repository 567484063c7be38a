import type { Overview } from "../../observe/status/overview-types.js";
import { addCommand, type Register } from "./command.js";
import type { Io } from "./io.js";

interface Options {
  readonly redis?: string;
  readonly watch?: boolean;
  readonly json?: boolean;
}

const WATCH_MS = 1_000;
/** Longer than a read takes: after this a warning says that the display is out of date. */
const PATIENCE_MS = 5_000;

export const register: Register = (program, { io }) => {
  addCommand(program, "status [run]", {
    summary: "runs, steps in flight, queues, workers, last failures",
    description:
      "Prints what the live page shows: the most severe fact first, then runs, queues, workers and the last failures; with a run's name, its\n" +
      "pipelines and newest steps as well. Reads from Redis alone, so it works without a running broker.",
    examples: [
      ["dataflex-mq status --redis redis://127.0.0.1:6379", "everything, once"],
      ["dataflex-mq status qwen7b --watch", "one run, every second, until Ctrl-C"],
      ["dataflex-mq status --json", "for programs; with --watch one object a line"],
    ],
  })
    .option("--watch", "again every second, until Ctrl-C")
    .action(async (run: string | undefined, options: Options, command) => {
      const json = command.optsWithGlobals().json === true;
      const [{ redisUrlOf }, { withOverview }, text] = await Promise.all([
        import("../services/service-env.js"),
        import("./status-read.js"),
        import("./status-text.js"),
      ]);
      await withOverview(redisUrlOf(options, io.env, "status"), run, async (read) => {
        if (options.watch !== true) {
          const seen = await read();
          io.out(json ? `${JSON.stringify(seen, undefined, 2)}\n` : text.statusText(seen, io.columns));
          return;
        }
        await watch(io, json, read, text);
      });
    });
};

type Seen = { readonly overview: Overview; readonly run?: string };

/** A terminal is redrawn; elsewhere a line is printed when something has changed. */
async function watch<S extends Seen>(
  io: Io,
  json: boolean,
  read: () => Promise<S>,
  text: { statusText(seen: S, columns?: number): string; lineText(seen: S): string },
): Promise<void> {
  const { sleep } = await import("../../lifecycle.js");
  const abort = new AbortController();
  const stopped = new Promise<undefined>((resolve) => abort.signal.addEventListener("abort", () => resolve(undefined)));
  const stop = (): void => abort.abort();
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  try {
    for (let last = ""; !abort.signal.aborted; await sleep(WATCH_MS, abort.signal).catch(() => {})) {
      const late = setTimeout(
        () => io.err("Redis does not answer: what is shown above is old. Waiting for it; stop: Ctrl-C\n"),
        PATIENCE_MS,
      );
      const seen = await Promise.race([read(), stopped]).finally(() => clearTimeout(late));
      if (seen === undefined) return;
      const line = json ? JSON.stringify(seen) : text.lineText(seen);
      if (io.fancy && !json) {
        io.clear("screen");
        io.out(text.statusText(seen, io.columns));
      } else if (line !== last) io.out(`${line}\n`);
      last = line;
    }
  } finally {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
  }
}
