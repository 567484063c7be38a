import type { Check } from "../../redis/finding.js";
import { parseOptions } from "../services/service-options.js";
import { addCommand, type Register } from "./command.js";
import { EXIT, type ExitCode } from "./exit.js";

export const register: Register = (program, { io, setExit }) => {
  addCommand(program, "doctor", {
    summary: "what is wrong with Redis, backends and versions, and how to fix it",
    description:
      "Looks at this machine, the Redis server and the services that use it. Everything wrong is listed with the line that fixes it.\n" +
      "Changes nothing. Exit code 1 when something is wrong; warnings leave it 0.",
    examples: [
      ["dataflex-mq doctor --redis redis://127.0.0.1:6379", "all checks"],
      ["dataflex-mq doctor --backend tensorflow-gpu", "and that this backend works here"],
      ["dataflex-mq doctor --python .venv/bin/python --device cuda", "and that Python plugins can use a GPU here"],
    ],
  }).action(async (given, command) => {
    const json = command.optsWithGlobals().json === true;
    const { backendFindings, nodeFinding, pythonFinding } = await import("./doctor-machine.js");
    const options = parseOptions("doctor", given);
    const machine = [
      nodeFinding(process.versions.node),
      ...(await backendFindings(options.backend)),
      await pythonFinding(options),
    ];
    const { findings, exit } = await examineRedis(options, io.env);
    const all = { machine, redis: findings };
    if (json) io.out(`${JSON.stringify(all, undefined, 2)}\n`);
    else io.out(doctorText(all));
    const wrong = [...machine, ...findings].some((f) => f.level === "critical");
    setExit(exit ?? (wrong ? EXIT.failed : EXIT.done));
  });
};

/** Without an address, or without an answer, the rest is still reported; the exit code says what was missing. */
async function examineRedis(
  options: { readonly redis?: string },
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ findings: Check[]; exit?: ExitCode }> {
  const [{ DataflexError }, { redisUrlOf }, { withRedis }, { examine }] = await Promise.all([
    import("../../errors.js"),
    import("../services/service-env.js"),
    import("../../redis/connect.js"),
    import("../../observe/status/doctor.js"),
  ]);
  try {
    return { findings: await withRedis(redisUrlOf(options, env, "doctor"), "doctor", examine) };
  } catch (thrown) {
    const error = DataflexError.from(thrown);
    const [what, ...fix] = error.message.split(/(?<=\.|\)) (?=[A-Z])/);
    const finding: Check = { name: "address", level: "critical", text: what ?? error.message, fix: fix.join(" ") };
    return { findings: [finding], exit: error.exitCode as ExitCode };
  }
}

const SIGNS: Record<Check["level"], string> = { ok: "ok    ", note: "note  ", warning: "WARN  ", critical: "WRONG " };

/** The findings, each with the command that fixes it below; the number of problems at the end. */
function doctorText({ machine, redis }: { machine: readonly Check[]; redis: readonly Check[] }): string {
  const all = [...machine, ...redis];
  const width = Math.max(...all.map((f) => f.name.length));
  const line = (f: Check): string =>
    `  ${SIGNS[f.level]} ${f.name.padEnd(width)}  ${f.text}\n` +
    (f.fix ? `${" ".repeat(width + 11)}fix: ${f.fix}\n` : "");
  const wrong = all.filter((f) => f.level === "critical").length;
  const warnings = all.filter((f) => f.level === "warning").length;
  const verdict =
    wrong > 0
      ? `${wrong} wrong, ${warnings} to think about.`
      : warnings > 0
        ? `Nothing wrong, ${warnings} to think about.`
        : "Nothing wrong.";
  return `This machine\n${machine.map(line).join("")}\nRedis and services\n${redis.map(line).join("")}\n${verdict}\n`;
}
