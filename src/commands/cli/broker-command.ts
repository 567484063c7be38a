import { addCommand, type Register } from "./command.js";

interface Options {
  readonly redis?: string;
  readonly http?: string;
  readonly token?: string;
  readonly json?: boolean;
}

export const register: Register = (program, { io }) => {
  addCommand(program, "broker", {
    summary: "run a broker: mounts runs, turns complete steps into jobs",
    description:
      "Runs a broker until it is told to stop. Any number may run against one Redis; they share the work. It keeps no state that Redis " +
      "does not have, and never reads tensor bytes.",
    examples: [
      ["dataflex-mq broker --redis redis://127.0.0.1:6379", "live page, metrics and health on 127.0.0.1:7411"],
      ["DFX_TOKEN=… dataflex-mq broker --redis redis://redis:6379 --http 0.0.0.0:7411", "in a container"],
    ],
  })
    .option("--redis <url>", "Redis address (default: DFX_REDIS_URL, then REDIS_URL)")
    .option("--http <host:port>", "where to serve the live page, /metrics, /healthz, /readyz (default 127.0.0.1:7411)")
    .option(
      "--token <text>",
      "what whoever opens the page must know; needed on an address that others can reach (or DFX_TOKEN)",
    )
    .action(async (options: Options, command) => {
      const [{ redisUrlOf }, { runBroker }, { serveUntilStopped }] = await Promise.all([
        import("../services/service-options.js"),
        import("../services/run-service.js"),
        import("./serve.js"),
      ]);
      await serveUntilStopped(io, command.optsWithGlobals().json === true, () =>
        runBroker(redisUrlOf(options, io.env, "broker"), options),
      );
    });
};
