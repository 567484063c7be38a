import { describe, expect, test } from "vitest";
import { sharedKeys, tagKeys } from "../../src/redis/keys.js";
import { eventually } from "../helpers/eventually.js";
import { resultOf, specOf } from "../helpers/executions.js";
import { seriesOf, valueIn } from "../helpers/metrics.js";
import { MetricsBench } from "../helpers/metrics-bench.js";

const own = MetricsBench.use();

describe("exported once", () => {
  test("of two brokers one exports what they share; when it stops the other goes on, counting nothing twice", async () => {
    const first = await own.leader();
    const second = await own.broker();
    const handle = await own.mount("shared", [specOf()]);
    await handle.settle("1.0", resultOf());
    await first.until((p) => valueIn(p, "dataflex_steps_total", { outcome: "applied" }) === 1);
    const other = await second.page();
    expect(valueIn(other, "dataflex_broker_leader")).toBe(0);
    expect(valueIn(other, "dataflex_redis_up")).toBe(1);
    expect(
      [...seriesOf(other).keys()].filter((s) => /dataflex_(weight|steps|queue|run|stream|redis_mem)/.test(s)),
    ).toEqual([]);

    await first.broker.stop();
    await handle.settle("2.0", resultOf({ stats: { ...resultOf().stats!, max: 5 } }));
    const page = await second.until((p) => valueIn(p, "dataflex_steps_total", { outcome: "applied" }) === 1);
    expect(valueIn(page, "dataflex_broker_leader")).toBe(1);
    expect(valueIn(page, "dataflex_run_step", { point: "published" })).toBe(2);
    expect(valueIn(page, "dataflex_weight_max")).toBe(5);
  });

  test("a new leader shows the last values of what was counted before", async () => {
    const first = await own.leader();
    const handle = await own.mount("kept", [specOf()]);
    await handle.settle("9.0", resultOf());
    const { noticesRead } = tagKeys("0");
    await first.until((p) => valueIn(p, "dataflex_weight_max") === 2);
    await eventually(() => own.redis.raw.get(noticesRead));
    await first.broker.stop();
    const second = await own.leader();
    const page = await second.until((p) => valueIn(p, "dataflex_weight_max") === 2);
    expect(valueIn(page, "dataflex_steps_total", { outcome: "applied" })).toBe(0);
  });

  test("a leader whose lease another holds stops exporting what is shared", async () => {
    const leader = await own.leader();
    await own.redis.raw.set(sharedKeys.leader, "another", "PX", 60_000);
    const page = await leader.until((p) => valueIn(p, "dataflex_broker_leader") === 0);
    expect(valueIn(page, "dataflex_stream_lag_entries")).toBeUndefined();
    expect(valueIn(page, "dataflex_redis_up")).toBe(1);
  });
});
