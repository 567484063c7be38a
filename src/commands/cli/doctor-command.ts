import type { Check } from "../../redis/finding.js";
import type { Backend } from "../../worker/compute/thread-messages.js";
import { addCommand, type Register } from "./command.js";
import { EXIT, type ExitCode } from "./exit.js";

interface Options {
  readonly redis?: string;
  readonly backend?: string;
  readonly json?: boolean;
}

export const register: Register = (program, { io, setExit }) => {
  addCommand(program, "doctor", {
    summary: "what is wrong with Redis, backends and versions, and how to fix it",
    description:
      "Looks at this machine, the Redis server and the services that live on it. Everything wrong is listed with the line that fixes it.\n" +
      "Changes nothing. Exit code 1 when something is wrong; warnings leave it 0.",
    examples: [
      ["dataflex-mq doctor --redis redis://127.0.0.1:6379", "all checks"],
      ["dataflex-mq doctor --backend tensorflow-gpu", "and that this backend works here"],
    ],
  })
    .option("--redis <url>", "Redis address (default: DFX_REDIS_URL, then REDIS_URL)")
    .option("--backend <name>", "a backend that must work on this machine")
    .action(async (options: Options, command) => {
      const json = command.optsWithGlobals().json === true;
      const [{ parseBackend }, { backendFindings, nodeFinding }, text] = await Promise.all([
        import("../services/service-options.js"),
        import("./doctor-machine.js"),
        import("./doctor-text.js"),
      ]);
      const wanted: Backend | undefined = options.backend === undefined ? undefined : parseBackend(options.backend);
      const machine = [nodeFinding(process.versions.node), ...(await backendFindings(wanted))];
      const { findings, exit } = await examineRedis(options, io.env);
      const all = { machine, redis: findings };
      if (json) io.out(`${JSON.stringify(all, undefined, 2)}\n`);
      else io.out(text.doctorText(all));
      const wrong = [...machine, ...findings].some((f) => f.level === "critical");
      setExit(exit ?? (wrong ? EXIT.failed : EXIT.done));
    });
};

/** Without an address, or without an answer, the rest is still worth telling; the exit code says what was missing. */
async function examineRedis(
  options: Options,
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ findings: Check[]; exit?: ExitCode }> {
  const [{ DataflexError }, { redisUrlOf }, { connect }, { examine }] = await Promise.all([
    import("../../errors.js"),
    import("../services/service-options.js"),
    import("../../redis/connect.js"),
    import("../../observe/status/doctor.js"),
  ]);
  try {
    const redis = await connect(redisUrlOf(options, env, "doctor"), "command", { name: "doctor" });
    try {
      return { findings: await examine(redis) };
    } finally {
      redis.disconnect();
    }
  } catch (thrown) {
    const error = DataflexError.from(thrown);
    const [what, ...fix] = error.message.split(/(?<=\.|\)) (?=[A-Z])/);
    const finding: Check = { name: "address", level: "critical", text: what ?? error.message, fix: fix.join(" ") };
    return { findings: [finding], exit: error.exitCode as ExitCode };
  }
}
