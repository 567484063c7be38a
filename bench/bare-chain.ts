import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";

/** The bare chain of the same hops, an empty payload, in processes of its own: XADD → group reader → BullMQ job → worker → XADD → blocked reader. */
export async function startBareChain(redisUrl: string) {
  const file = fileURLToPath(new URL("./bare-chain.mjs", import.meta.url));
  const children = ["worker", "broker"].map((role) => fork(file, [redisUrl, role], { stdio: "inherit" }));
  await Promise.all(children.map((c) => new Promise((resolve) => c.once("message", resolve))));
  const path = redisUrl.replace("unix://", "");
  const [out, wait] = [new Redis({ path }), new Redis({ path })];
  let ping = 0;
  return {
    async once(): Promise<void> {
      const key = `bench:out:${++ping}`;
      await out.xadd("bench:in", "*", "key", key);
      await wait.xread("BLOCK", 5000, "STREAMS", key, "0");
      await out.unlink(key);
    },
    stop(): void {
      for (const child of children) child.kill();
      out.disconnect();
      wait.disconnect();
    },
  };
}
