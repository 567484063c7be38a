import { collectDefaultMetrics, Registry } from "prom-client";

/** What /metrics serves. */
export interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
}

let process_: Registry | undefined;

/**
 * CPU, memory, garbage collection, event-loop lag: facts of the process, so collected once in it, however many services it holds
 * and however often they start (prom-client never takes its observers off again).
 */
function processRegistry(): Registry {
  if (!process_) {
    process_ = new Registry();
    collectDefaultMetrics({ register: process_ });
  }
  return process_;
}

/** One page of several registries; their metrics must have different names. `refresh` runs before each and must be quick. */
export function metricsPage(registries: () => readonly Registry[], refresh: () => Promise<void> | void): Metrics {
  return {
    contentType: Registry.PROMETHEUS_CONTENT_TYPE,
    async text() {
      await refresh();
      const texts = await Promise.all([...registries(), processRegistry()].map((r) => r.metrics()));
      return texts.join("");
    },
  };
}
