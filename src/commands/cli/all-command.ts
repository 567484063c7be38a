import { defined } from "../../defined.js";
import { redactUrl } from "../../redact.js";
import { DEFAULT_WORKERS, parseOptions } from "../services/service-options.js";
import { addCommand, type Register } from "./command.js";

export const register: Register = (program, { io }) => {
  addCommand(program, "all", {
    summary: "broker and workers in one go, with a private Redis when no address is given",
    description:
      "For a laptop: starts a broker and workers, each in a process of its own. Without an address it starts a private Redis as well, on a " +
      "unix socket in a folder of its own; nothing in it is kept.",
    examples: [
      ["dataflex-mq all", "everything, with a private Redis"],
      ["dataflex-mq all --redis redis://127.0.0.1:6379 --workers 4", "on a Redis that is there"],
    ],
  }).action(async (given, command) => {
    const json = command.optsWithGlobals().json === true;
    const [{ redisAddress }, { startAll }, { serveUntilStopped }] = await Promise.all([
      import("../services/service-env.js"),
      import("../services/all-services.js"),
      import("./serve.js"),
    ]);
    const { workers = DEFAULT_WORKERS, redis, ...components } = parseOptions("all", given);
    const all = await startAll({ redis: redisAddress(defined({ redis }), io.env), workers, components });
    const page = all.services.find((s) => s.ready.role === "broker")?.ready.http;
    if (!json) io.out(`page    ${page ?? "none"}\nredis   ${all.redisUrl}\ntrainer ${trainerLine(all.redisUrl)}\n`);
    await serveUntilStopped(io, json, async () => all.services, all.redisUrl);
  });
};

/** Passwords are not repeated: whoever gave the address has them. */
function trainerLine(url: string): string {
  return redactUrl(url) === url ? `export DFX_REDIS_URL=${url}` : "export DFX_REDIS_URL=…, the address of this command";
}
