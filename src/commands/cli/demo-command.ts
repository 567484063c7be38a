import { InvalidArgumentError } from "commander";
import { defined } from "../../defined.js";
import type { ConfigFile } from "../../mounting/config/load-config.js";
import type { DemoStart } from "../demo/demo.js";
import { addCommand, type Register } from "./command.js";
import type { Io } from "./io.js";

interface Options {
  readonly steps: number;
  readonly seed: number;
  readonly config?: string;
  readonly redis?: string;
  readonly watch?: boolean;
  readonly json?: boolean;
}

/** With --watch: a person can follow two steps a second. */
const WATCH_PAUSE_MS = 500;

export const register: Register = (program, { io }) => {
  addCommand(program, "demo", {
    summary: "a real small GRPO run against the whole system",
    description:
      "Trains a small policy on generated tasks with verifiable rewards; every step's loss is multiplied by the weights that come " +
      "back through Redis, a broker and two workers. Then shows the same run without weights beside it.",
    examples: [
      ["dataflex-mq demo", "everything it needs is started and stopped again"],
      ["dataflex-mq demo --watch", "slow enough to follow on the live page, which stays up until Ctrl-C"],
      ["dataflex-mq demo --config dataflex.yaml --seed 7", "your own block, another seed"],
      ["dataflex-mq demo --steps 20 --json", "one JSON object a step: tensors posted, weights received"],
    ],
  })
    .option("--steps <n>", "training steps", wholeNumber(1), 40)
    .option("--seed <n>", "seed of tasks and samples", wholeNumber(0), 1)
    .option("--config <file>", "configuration with a dataflex block; default: three pipelines over both stages")
    .option("--watch", "two steps a second at most, and the live page stays up at the end until Ctrl-C")
    .action(async (options: Options, command) => {
      const json = command.optsWithGlobals().json === true;
      const [
        { runDemo },
        { DEFAULT_DEMO_CONFIG },
        { stepRecord },
        report,
        { locateMountError },
        { redisAddress },
        { parseOptions },
      ] = await Promise.all([
        import("../demo/demo.js"),
        import("../demo/default-config.js"),
        import("../demo/demo-record.js"),
        import("../demo/report.js"),
        import("../../mounting/config/problems.js"),
        import("../services/service-env.js"),
        import("../services/service-options.js"),
      ]);
      const config = options.config === undefined ? undefined : await readConfig(options.config);
      const dataflex = config === undefined ? DEFAULT_DEMO_CONFIG : config.dataflex;
      const { steps, seed } = options;
      const redisUrl = redisAddress(options, io.env);
      const { redis: _, ...components } = parseOptions("demo", { ...options });
      const print = (value: unknown): void => io.out(`${JSON.stringify(value)}\n`);
      if (!json) io.out("A small GRPO run. Its loss is multiplied by weights computed in other processes.\n");
      let page: string | null = null;
      const summary = await runDemo({
        steps,
        seed,
        dataflex,
        components,
        ...defined({ redisUrl, pauseMs: options.watch ? WATCH_PAUSE_MS : undefined }),
        onServices: (address) => {
          page = address ?? null;
          const hint = options.watch ? "" : "   (slow enough to follow: --watch)";
          if (!json && page !== null) io.out(`  page       ${page}${hint}\n`);
        },
        onTrained: async (summary) => {
          if (!options.watch || json) return;
          io.out(`\n${report.summaryText(summary)}\n\nThe page stays up until Ctrl-C.\n`);
          await new Promise<never>(() => {});
        },
        onStart: (started) => {
          if (json) print({ kind: "start", steps, seed, dataflex, page, ...started });
          else io.out(`${startText(started)}\n\n${report.STEP_HEADING}\n`);
        },
        onStep: (result, unweighted) => {
          if (json) return print({ ...stepRecord(result), unweighted });
          clearProgress(io);
          io.out(`${report.stepLine({ ...result, wait_ms: result.extra.wait_ms })}\n`);
          if (io.fancy && result.step < steps) io.out(report.progressLine(result.step, steps, result.reward));
        },
      }).catch((error: unknown) => {
        throw config === undefined ? error : locateMountError(error, config);
      });
      if (json) print({ kind: "summary", ...summary });
      else io.out(`\n${report.summaryText(summary)}\n`);
    });
};

async function readConfig(file: string): Promise<ConfigFile> {
  const [{ loadConfig }, { configError }] = await Promise.all([
    import("../../mounting/config/load-config.js"),
    import("../../mounting/config/problems.js"),
  ]);
  const loaded = await loadConfig(file);
  if (!loaded.ok) throw configError(loaded.problems);
  return loaded.config;
}

function startText({ own_services, redis_url, pipelines, warnings }: DemoStart): string {
  const services = own_services ? "a broker and two workers, each a process of its own" : "those already running there";
  return [
    `  Redis      ${redis_url}`,
    `  services   ${services}`,
    `  pipelines  ${pipelines.join(", ")}`,
    ...warnings.map((warning) => `  warning: ${warning}`),
  ].join("\n");
}

/** Clears the line of the progress bar. */
function clearProgress(io: Io): void {
  if (io.fancy) io.clear("line");
}

function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value < 2 ** 31) return value;
    throw new InvalidArgumentError(`expected a whole number from ${least}`);
  };
}
