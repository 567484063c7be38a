import { Broker } from "../../broker/broker.js";
import { defined } from "../../defined.js";
import { ReleaseStack } from "../../lifecycle.js";
import { createLogger } from "../../log.js";
import { withHistory } from "../../observe/history/history-sink.js";
import { type HttpServer, startHttp } from "../../observe/http/http-server.js";
import { listenOf } from "../../observe/http/listen.js";
import { serviceChecks } from "../../observe/http/service-checks.js";
import { createBrokerMetrics } from "../../observe/metrics/broker-recorder.js";
import { createWorkerMetrics } from "../../observe/metrics/worker-recorder.js";
import { liveData } from "../../observe/status/live-source.js";
import { Worker } from "../../worker/worker.js";
import { pythonSettings } from "./own-components.js";
import { tokenOf } from "./service-env.js";
import type { ServiceOptions } from "./service-options.js";
import { watchPlugins } from "./watch-plugins.js";

/** What a service says once it is ready. */
export interface Ready {
  readonly role: "broker" | "worker";
  readonly id: string;
  readonly pid: number;
  /** `http://host:port` of its metrics and health. */
  readonly http: string;
  readonly backend?: string;
  readonly slots?: number;
}

export interface RunningService {
  readonly ready: Ready;
  /** Of a process of its own: resolves when it has ended, with how (`SIGKILL`, `exit 1`). */
  readonly ended?: Promise<string>;
  stop(): Promise<void>;
}

/** Builds and starts a broker with its HTTP server. Nothing stays open when it fails. */
export async function runBroker(redisUrl: string, o: ServiceOptions): Promise<RunningService> {
  const log = createLogger("broker");
  const token = tokenOf(o, process.env);
  const broker = new Broker({ redisUrl, log });
  return launch(broker, async () => {
    let http: HttpServer | undefined;
    const metrics = createBrokerMetrics(withHistory(broker), { streams: () => http?.streams ?? 0 });
    http = await startHttp({
      role: "broker",
      listen: listenOf("broker", o.http),
      metrics,
      live: { data: liveData(broker), ...defined({ token }) },
      log,
      ...serviceChecks(() => broker.watched()),
    });
    await broker.announceHttp(http.address);
    return { http, ready: { role: "broker", id: broker.id, pid: process.pid, http: http.address } };
  });
}

/** Builds and starts a worker with its HTTP server. Nothing stays open when it fails. */
export async function runWorker(redisUrl: string, o: ServiceOptions): Promise<RunningService> {
  const log = createLogger("worker");
  const { slots, backend, plugin: plugins, computeLimitMs } = o;
  const python = pythonSettings(o);
  const worker = new Worker({ redisUrl, log, python, ...defined({ slots, backend, plugins, computeLimitMs }) });
  const metrics = createWorkerMetrics(worker);
  return launch(worker, async () => {
    // Checked before the port is taken: a flag without its file is a typing mistake.
    const unwatch = o.watch === true ? watchPlugins(worker, plugins ?? [], log) : () => {};
    const http = await startHttp({
      role: "worker",
      listen: listenOf("worker", o.http),
      metrics,
      log,
      ...serviceChecks(() => worker.watched()),
    });
    await worker.announceHttp(http.address);
    return {
      http,
      unwatch,
      ready: {
        role: "worker",
        id: worker.id,
        pid: process.pid,
        http: http.address,
        backend: worker.backend,
        slots: worker.slots,
      },
    };
  });
}

async function launch(
  service: { start(): Promise<unknown>; stop(): Promise<void> },
  open: () => Promise<{ http: { close(): Promise<void> }; ready: Ready; unwatch?: () => void }>,
): Promise<RunningService> {
  const stack = new ReleaseStack();
  stack.push(() => service.stop());
  try {
    await service.start();
    const { http, ready, unwatch } = await open();
    stack.push(() => http.close());
    stack.push(() => unwatch?.());
    return { ready, stop: () => stack.release() };
  } catch (error) {
    await stack.release();
    throw error;
  }
}
