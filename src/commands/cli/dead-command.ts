import { DataflexError } from "../../errors.js";
import { addCommand, type Register } from "./command.js";

interface Options {
  readonly redis?: string;
  readonly json?: boolean;
}
const ACTIONS = ["ls", "show", "retry", "drop"] as const;
type Action = (typeof ACTIONS)[number];

export const register: Register = (program, { io }) => {
  addCommand(program, "dead <action> [id]", {
    summary: "jobs that no worker could do: list, show, retry, drop",
    description:
      "A job ends here when it killed the workers that took it (POISON), or its component threw, ran out of time or memory. `ls` lists them,\n" +
      "`show ID` prints one with shapes, hashes and the error with its stack, `retry ID` has the step computed again as a new attempt while its\n" +
      "trainer has not released it, `drop ID` removes one from the list. `retry` and `drop` take `all`.",
    examples: [
      ["dataflex-mq dead ls --redis redis://127.0.0.1:6379", "the newest first"],
      ["dataflex-mq dead show 1796095147104-0", "one of them, with everything that is known"],
      ["dataflex-mq dead retry 1796095147104-0", "after the plugin was mended and the worker restarted"],
      ["dataflex-mq dead drop all", "an empty list"],
    ],
  }).action(async (action: string, id: string | undefined, options: Options, command) => {
    const json = command.optsWithGlobals().json === true;
    const [{ redisUrlOf }, { withRedis }, dead, { didYouMean }] = await Promise.all([
      import("../services/service-env.js"),
      import("../../redis/connect.js"),
      import("./dead-jobs-command.js"),
      import("../../suggest.js"),
    ]);
    if (!(ACTIONS as readonly string[]).includes(action)) {
      const near = didYouMean(action, [...ACTIONS]);
      throw new DataflexError(
        "USAGE",
        `unknown action "${action}"${near ? `; ${near}` : ""}   known: ${ACTIONS.join(", ")}`,
        { action },
      );
    }
    const todo = action as Action;
    if (todo !== "ls" && id === undefined)
      throw new DataflexError("USAGE", `dead ${todo} needs the id of a job: dataflex-mq dead ls lists them`, {
        action,
      });
    await withRedis(redisUrlOf(options, io.env, "dead"), "dead", async (redis) => {
      const print = (found: unknown, text: () => string): void =>
        io.out(json ? `${JSON.stringify(found, undefined, 2)}\n` : text());
      if (todo === "ls") {
        const jobs = await dead.readAll(redis);
        print({ dead: jobs }, () => dead.listText(jobs, io.columns));
      } else if (todo === "show") {
        const job = await dead.find(redis, id!);
        print(job, () => dead.showText(job));
      } else {
        const done = await dead.each(redis, id!, todo);
        print({ [todo]: done }, () => done.map(({ job, said }) => `${job}  ${said}\n`).join(""));
      }
    });
  });
};
