import { onShutdown } from "../../lifecycle.js";
import { redactUrl } from "../../redact.js";
import type { RunningService } from "../services/run-service.js";
import type { Io } from "./io.js";

/** Starts services, prints where they are and which of their processes ends unexpectedly, and resolves when a signal has stopped them. */
export async function serveUntilStopped(
  io: Io,
  json: boolean,
  start: () => Promise<RunningService | readonly RunningService[]>,
  redisUrl = "…",
): Promise<void> {
  const started = await start();
  const services: readonly RunningService[] = Array.isArray(started) ? started : [started];
  if (json) io.out(`${JSON.stringify(services.map((s) => s.ready))}\n`);
  else {
    for (const { ready } of services) {
      const more = ready.role === "worker" ? `   backend ${ready.backend}, ${ready.slots} slot(s)` : "";
      io.out(`${ready.role.padEnd(7)} ${ready.http}${more}   pid ${ready.pid}\n`);
    }
    io.out("stop: Ctrl-C\n");
  }
  let stopping = false;
  for (const { ready, ended } of services) {
    ended?.then((how) => {
      if (stopping) return;
      const another = `dataflex-mq ${ready.role} --redis ${redactUrl(redisUrl)}`;
      io.err(
        `the ${ready.role} with pid ${ready.pid} has ended (${how}); the others go on. Another in its place: ${another}\n`,
      );
    });
  }
  await new Promise<void>((resolve, reject) => {
    onShutdown(async () => {
      stopping = true;
      if (!json) io.err("finishing the current jobs, up to 30 s; Ctrl-C again to abandon them\n");
      const stopped = await Promise.allSettled(services.map((s) => s.stop()));
      const failed = stopped.find((s) => s.status === "rejected");
      if (failed) reject(failed.reason);
      else resolve();
    });
  });
}
