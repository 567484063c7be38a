import { parseArgs } from "node:util";
import { DataflexError } from "../../errors.js";
import { onShutdown } from "../../lifecycle.js";
import { runBroker, runWorker } from "./run-service.js";
import {
  MAX_MS,
  parseBackend,
  parseCount,
  pythonSettings,
  redisUrlOf,
  type ServiceOptions,
} from "./service-options.js";

/** Entry point of a service process: config → build → run → release → exit code. Tells the process that forked it when it is ready. */
export async function serviceMain(role: "broker" | "worker", argv: readonly string[]): Promise<void> {
  try {
    const options = parse(argv);
    const run = role === "broker" ? runBroker : runWorker;
    const service = await run(redisUrlOf(options, process.env, role), options);
    onShutdown(() => service.stop());
    process.send?.(service.ready);
  } catch (thrown) {
    const error = DataflexError.from(thrown);
    if (process.send) process.send({ failure: error.toFailure() }, () => process.exit(error.exitCode));
    else {
      process.stderr.write(`error[${error.code}] ${error.message}\n`);
      process.exit(error.exitCode);
    }
  }
}

function parse(argv: readonly string[]): ServiceOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      redis: { type: "string" },
      http: { type: "string" },
      token: { type: "string" },
      slots: { type: "string" },
      backend: { type: "string" },
      plugin: { type: "string", multiple: true },
      "compute-limit-ms": { type: "string" },
      python: { type: "string" },
      device: { type: "string" },
      "python-memory-mb": { type: "string" },
      "python-start-ms": { type: "string" },
    },
  });
  return {
    ...(values.redis === undefined ? {} : { redis: values.redis }),
    ...(values.http === undefined ? {} : { http: values.http }),
    ...(values.token === undefined ? {} : { token: values.token }),
    ...(values.slots === undefined ? {} : { slots: parseCount("--slots", values.slots) }),
    ...(values.backend === undefined ? {} : { backend: parseBackend(values.backend) }),
    ...(values.plugin === undefined ? {} : { plugin: values.plugin }),
    ...(values["compute-limit-ms"] === undefined
      ? {}
      : { computeLimitMs: parseCount("--compute-limit-ms", values["compute-limit-ms"], MAX_MS) }),
    ...pythonSettings({
      python: values.python,
      device: values.device,
      pythonMemoryMb: values["python-memory-mb"],
      pythonStartMs: values["python-start-ms"],
    }),
  };
}
