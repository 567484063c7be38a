import { addCommand, type Register } from "./command.js";

interface Options {
  readonly redis?: string;
  readonly http?: string;
  readonly slots?: string;
  readonly backend?: string;
  readonly plugin?: string[];
  readonly computeLimitMs?: string;
  readonly python?: string;
  readonly device?: string;
  readonly pythonMemoryMb?: string;
  readonly pythonStartMs?: string;
}

export const register: Register = (program, { io }) => {
  addCommand(program, "worker", {
    summary: "run a worker: pulls jobs, scores, publishes weights",
    description:
      "Runs a worker until it is told to stop: then it finishes the jobs at hand and puts back what it cannot finish in 30 s.",
    examples: [
      ["dataflex-mq worker --redis redis://127.0.0.1:6379", "one job at a time, on the CPU"],
      ["dataflex-mq worker --slots 4 --backend wasm", "four at once, tensors on wasm"],
      ["dataflex-mq worker --plugin ./my-scorer.ts", "with components of your own"],
      ["dataflex-mq worker --plugin ./mine.py --device cuda", "in Python, on a GPU"],
    ],
  })
    .option("--redis <url>", "Redis address (default: DFX_REDIS_URL, then REDIS_URL)")
    .option("--http <host:port>", "where to serve /metrics, /healthz, /readyz (default 127.0.0.1:9464)")
    .option("--slots <n>", "jobs at once, each with a compute thread of its own (default 1)")
    .option("--backend <name>", "where tensors live: auto, cpu, wasm, tensorflow, tensorflow-gpu (default auto)")
    .option("--plugin <file|package...>", "load components of your own: TypeScript, JavaScript, or Python (.py)")
    .option("--compute-limit-ms <ms>", "longest time one job may compute (default 600000)")
    .option("--python <path>", "interpreter of Python plugins (default: DFX_PYTHON, then python3)")
    .option("--device <name>", "where Python plugins compute: auto, cpu, cuda, cuda:N (default auto)")
    .option("--python-memory-mb <n>", "memory that each slot's Python process may allocate")
    .option("--python-start-ms <ms>", "how long it may take to import the plugins (default 120000)")
    .action(async (options: Options, command) => {
      const [{ MAX_MS, parseBackend, parseCount, pythonSettings, redisUrlOf }, { runWorker }, { serveUntilStopped }] =
        await Promise.all([
          import("../services/service-options.js"),
          import("../services/run-service.js"),
          import("./serve.js"),
        ]);
      const service = {
        ...(options.http === undefined ? {} : { http: options.http }),
        ...(options.slots === undefined ? {} : { slots: parseCount("--slots", options.slots) }),
        ...(options.backend === undefined ? {} : { backend: parseBackend(options.backend) }),
        ...(options.plugin === undefined ? {} : { plugin: options.plugin }),
        ...(options.computeLimitMs === undefined
          ? {}
          : { computeLimitMs: parseCount("--compute-limit-ms", options.computeLimitMs, MAX_MS) }),
        ...pythonSettings(options),
      };
      await serveUntilStopped(io, command.optsWithGlobals().json === true, () =>
        runWorker(redisUrlOf(options, io.env, "worker"), service),
      );
    });
};
