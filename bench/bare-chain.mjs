// One process of the bare chain: `broker` turns stream entries into BullMQ jobs, the other answers them. No payload, no work.
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";

const [url, role] = process.argv.slice(2);
const connection = { path: url.replace("unix://", ""), maxRetriesPerRequest: null };
const prefix = "bench:{q}";
if (role === "broker") {
  const queue = new Queue("bare", { connection, prefix });
  const [reader, command] = [new Redis(connection), new Redis(connection)];
  await command.xgroup("CREATE", "bench:in", "broker", "0", "MKSTREAM").catch(() => {});
  process.send("ready");
  for (;;) {
    const answer = await reader.xreadgroup(
      "GROUP",
      "broker",
      "1",
      "COUNT",
      64,
      "BLOCK",
      5000,
      "STREAMS",
      "bench:in",
      ">",
    );
    for (const [id, [, key]] of answer?.[0]?.[1] ?? []) {
      await queue.add("bare", { key }, { removeOnComplete: true, removeOnFail: true });
      await command.multi().xack("bench:in", "broker", id).xdel("bench:in", id).exec();
    }
  }
} else {
  const command = new Redis(connection);
  const worker = new Worker("bare", (job) => command.xadd(job.data.key, "*", "done", "1"), { connection, prefix });
  await worker.waitUntilReady();
  process.send("ready");
}
