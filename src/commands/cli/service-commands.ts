import { parseOptions } from "../services/service-options.js";
import { addCommand, type CommandText, type Register } from "./command.js";

const TEXTS = {
  broker: {
    summary: "run a broker: mounts runs, turns complete steps into jobs",
    description:
      "Runs a broker until it is stopped. Any number may run against one Redis; they share the work. It keeps no state that Redis " +
      "does not have, and never reads tensor bytes.",
    examples: [
      ["dataflex-mq broker --redis redis://127.0.0.1:6379", "live page, metrics and health on 127.0.0.1:7411"],
      ["DFX_TOKEN=… dataflex-mq broker --redis redis://redis:6379 --http 0.0.0.0:7411", "in a container"],
    ],
  },
  worker: {
    summary: "run a worker: pulls jobs, scores, publishes weights",
    description:
      "Runs a worker until it is stopped: then it finishes its current jobs and puts back what it cannot finish in 30 s.",
    examples: [
      ["dataflex-mq worker --redis redis://127.0.0.1:6379", "one job at a time, on the CPU"],
      ["dataflex-mq worker --slots 4 --backend tensorflow", "four at once, tensors on libtensorflow"],
      ["dataflex-mq worker --plugin ./my-scorer.ts", "with components of your own"],
      ["dataflex-mq worker --plugin ./mine.py --device cuda", "in Python, on a GPU"],
    ],
  },
} as const satisfies Record<string, CommandText>;

const service =
  (role: keyof typeof TEXTS): Register =>
  (program, { io }) => {
    addCommand(program, role, TEXTS[role]).action(async (given, command) => {
      const [{ redisUrlOf }, { runBroker, runWorker }, { serveUntilStopped }] = await Promise.all([
        import("../services/service-env.js"),
        import("../services/run-service.js"),
        import("./serve.js"),
      ]);
      const options = parseOptions(role, given);
      const run = { broker: runBroker, worker: runWorker }[role];
      await serveUntilStopped(io, command.optsWithGlobals().json === true, () =>
        run(redisUrlOf(options, io.env, role), options),
      );
    });
  };

export const broker = service("broker");
export const worker = service("worker");
