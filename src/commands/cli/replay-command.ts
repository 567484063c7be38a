import { InvalidArgumentError } from "commander";
import { defined } from "../../defined.js";
import { MAX_MS } from "../services/service-options.js";
import { addCommand, notEmpty, type Register } from "./command.js";

interface Options {
  readonly config: string;
  readonly redis?: string;
  readonly advEstimator?: string;
  readonly timeoutMs: number;
  readonly json?: boolean;
}

const DEFAULT_TIMEOUT_MS = 30_000;

export const register: Register = (program, { io }) => {
  addCommand(program, "replay <file>", {
    summary: "post a recorded step through the whole system, print the result",
    description:
      "Posts a recorded step (a JSON object, an .npz, or a JSONL of rollouts as verl writes them) through Redis, broker and " +
      "worker and prints the weights that come back. It uses the services that run at the address; where none do, it starts a " +
      "broker and a worker of its own, and without an address a private Redis too. It leaves nothing behind.",
    examples: [
      ["dataflex-mq replay step.json --config dataflex.yaml", "the weights of a recorded step"],
      ["dataflex-mq replay 12.jsonl --config verl.yaml --json", "rollouts as verl wrote them, for programs"],
      ["dataflex-mq replay step.npz --config c.yaml --redis redis://host:6379", "on the services that run there"],
    ],
  })
    .requiredOption("--config <file>", "configuration with a dataflex block")
    .option("--adv-estimator <name>", "advantage estimator; wins over the step's and the configuration's", notEmpty)
    .option("--timeout-ms <ms>", "deadline from mount to weights", milliseconds, DEFAULT_TIMEOUT_MS)
    .action(async (file: string, options: Options, command) => {
      const json = command.optsWithGlobals().json === true;
      const [{ replay }, { replayText }, { redisAddress }, { parseOptions }] = await Promise.all([
        import("../replay/replay.js"),
        import("../replay/answer-text.js"),
        import("../services/service-env.js"),
        import("../services/service-options.js"),
      ]);
      const redisUrl = redisAddress(options, io.env);
      const { redis: _, ...components } = parseOptions("replay", { ...options });
      const { step, answer } = await replay({
        file,
        configFile: options.config,
        timeoutMs: options.timeoutMs,
        components,
        ...defined({ redisUrl, advEstimator: options.advEstimator }),
      });
      io.out(json ? `${JSON.stringify(answer)}\n` : replayText(step, answer));
    });
};

/** A whole number of milliseconds, at most a day. */
function milliseconds(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0 && value <= MAX_MS) return value;
  throw new InvalidArgumentError(`expected a whole number of milliseconds from 1 to ${MAX_MS}`);
}
