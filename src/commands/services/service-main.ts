import { DataflexError } from "../../errors.js";
import { onShutdown } from "../../lifecycle.js";
import { shownText } from "../../redact.js";
import { runBroker, runWorker } from "./run-service.js";
import { redisUrlOf } from "./service-env.js";
import { parseArgv } from "./service-options.js";
import { hideArguments } from "./shown-arguments.js";

/** Entry point of a service process: config → build → run → release → exit code. Reports to the process that forked it when it is ready. */
export async function serviceMain(role: "broker" | "worker", argv: readonly string[]): Promise<void> {
  hideArguments(argv);
  try {
    const options = parseArgv(role, argv);
    const run = role === "broker" ? runBroker : runWorker;
    const service = await run(redisUrlOf(options, process.env, role), options);
    onShutdown(() => service.stop());
    process.send?.(service.ready);
  } catch (thrown) {
    const error = DataflexError.from(thrown);
    if (process.send) process.send({ failure: error.toFailure() }, () => process.exit(error.exitCode));
    else {
      process.stderr.write(shownText(`error[${error.code}] ${error.message}\n`));
      process.exit(error.exitCode);
    }
  }
}
