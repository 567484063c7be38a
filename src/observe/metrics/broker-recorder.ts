import type { Redis } from "ioredis";
import type { Notice } from "../../broker/notice.js";
import type { NoticeSink } from "../../broker/notices.js";
import { fulfilsWithin } from "../../lifecycle.js";
import { Verdicts } from "../verdict/verdicts.js";
import { setBuildInfo } from "./build-info.js";
import { metricsOf } from "./definitions.js";
import { LiveRuns } from "./live-runs.js";
import { livingRuns } from "./living-runs.js";
import { Meter } from "./meter.js";
import { type Metrics, metricsPage } from "./metrics-page.js";
import { type QueueCounts, readSnapshot, setSnapshot } from "./snapshot.js";
import { recordNotice } from "./step-facts.js";
import { readVerdicts, setVerdicts } from "./verdict-meter.js";

/** What the metrics need of a started broker. */
export interface ObservedBroker {
  readonly redis: Redis;
  readonly queues: QueueCounts;
  /** Stands for leader and hands over the notices while it leads. */
  lead(sink: NoticeSink): { readonly leading: boolean };
}

export interface BrokerMetricsOptions {
  /** Unix time in ms, for tests. */
  readonly now?: () => number;
  /** Open live pages. */
  readonly streams?: () => number;
}

export interface BrokerMetrics extends Metrics {
  /** Looks at Redis now; the page does so by itself, at most every REFRESH_EVERY_MS. */
  refresh(): Promise<void>;
}

/** A scrape waits this long for Redis, then it shows what it last knew: a scraper's patience is short and a gap says nothing. */
const REFRESH_MS = 250;
/** Several scrapers must not multiply the load on Redis. */
const REFRESH_EVERY_MS = 1_000;
const PING_MS = 1_000;
/** A broker's page has 3,000 series at most: these, and some hundred each of `_other`, of queues, of the process and of the broker itself. */
export const MOST_SHARED_LINES = 2_500;

/**
 * Metrics of one broker. Facts of its own (is it leader, does Redis answer it) are always there; facts that all brokers share are
 * exported by the leading one only.
 */
export function createBrokerMetrics(broker: ObservedBroker, options: BrokerMetricsOptions = {}): BrokerMetrics {
  const own = new Meter(metricsOf("broker", false));
  const shared = new SharedFacts(
    broker,
    new Meter(metricsOf("broker", true), { drops: own, lines: MOST_SHARED_LINES }),
    options.now ?? Date.now,
  );
  const leadership = broker.lead(shared);
  setBuildInfo(own, "broker");

  const look = async (): Promise<void> => {
    const asked = performance.now();
    const up = broker.redis.status === "ready" && (await fulfilsWithin(broker.redis.ping(), PING_MS));
    if (up) own.observe("dataflex_redis_ping_seconds", {}, (performance.now() - asked) / 1000);
    own.set("dataflex_redis_up", {}, up ? 1 : 0);
    own.set("dataflex_broker_leader", {}, leadership.leading ? 1 : 0);
    if (up && leadership.leading) await shared.refresh();
  };
  // One look at a time: while Redis is away a look waits for it, and scrapes go on without.
  let running: Promise<void> | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const refresh = (): Promise<void> => {
    lookedAt = performance.now();
    running ??= look().finally(() => {
      running = undefined;
    });
    return running;
  };
  const page = metricsPage(
    () => (leadership.leading ? [own.registry, shared.meter.registry] : [own.registry]),
    async () => {
      if (performance.now() - lookedAt >= REFRESH_EVERY_MS) await fulfilsWithin(refresh(), REFRESH_MS);
      own.set("dataflex_broker_leader", {}, leadership.leading ? 1 : 0);
      own.set("dataflex_sse_clients", {}, options.streams?.() ?? 0);
      if (broker.redis.status !== "ready") own.set("dataflex_redis_up", {}, 0);
    },
  );
  return { ...page, refresh };
}

/** Folds notices and snapshots into the metrics that all brokers share. */
class SharedFacts implements NoticeSink {
  readonly meter: Meter;
  readonly #broker: ObservedBroker;
  readonly #now: () => number;
  readonly #verdicts: Verdicts;
  #runs: LiveRuns;

  constructor(broker: ObservedBroker, meter: Meter, now: () => number) {
    this.#broker = broker;
    this.meter = meter;
    this.#now = now;
    this.#verdicts = new Verdicts(broker.redis);
    this.#runs = new LiveRuns(meter, broker.redis, now);
  }

  begin(): void {
    this.end();
  }

  end(): void {
    this.meter.reset();
    this.#runs = new LiveRuns(this.meter, this.#broker.redis, this.#now);
  }

  async take(notices: readonly Notice[], counted: boolean): Promise<void> {
    const runs = this.#runs;
    for (const notice of notices) {
      if (notice.kind === "mounted") continue;
      const run = await runs.of(notice.run, notice.incarnation);
      recordNotice(this.meter, runs, run, notice, counted);
    }
    runs.sweep();
  }

  async refresh(): Promise<void> {
    const { redis, queues } = this.#broker;
    const runs = this.#runs;
    const living = await livingRuns(redis);
    for (const { handle, openStep, lastSeen } of living) {
      const run = runs.meet(handle);
      runs.heard(run, lastSeen);
      if (openStep !== undefined) runs.reach(run, "enqueued", openStep);
    }
    runs.sweep();
    const snapshot = await readSnapshot(redis, queues, living, runs.specs);
    const verdicts = await readVerdicts(redis, this.#verdicts, snapshot);
    // The reign may have ended meanwhile.
    if (runs !== this.#runs) return;
    setSnapshot(this.meter, snapshot);
    setVerdicts(this.meter, verdicts);
  }
}
