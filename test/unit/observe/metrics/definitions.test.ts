import { expect, test } from "vitest";
import { METRICS, metricsOf } from "../../../../src/observe/metrics/definitions.js";
import { LABELS, runLabel } from "../../../../src/observe/metrics/labels.js";
import { FAILURE_REASONS } from "../../../../src/observe/metrics/reasons.js";

const table = [...METRICS];
const UNITS = /_(seconds|bytes|ratio|info|entries|jobs|slots|total|steps?)$/;

test("names are unique, lower case, ours, and without a colon", () => {
  expect(new Set(table.map((m) => m.name)).size).toBe(table.length);
  for (const { name } of table) expect(name).toMatch(/^dataflex_[a-z][a-z0-9_]*[a-z0-9]$/);
});

test("_total is for counters, and every counter has it", () => {
  for (const { name, type } of table) expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
});

test("no name ends in what Prometheus adds itself", () => {
  for (const { name } of table) expect(name).not.toMatch(/_(count|sum|bucket)$/);
});

test("histograms say their unit and have ascending finite buckets; nothing else has any", () => {
  for (const metric of table) {
    if (metric.type !== "histogram") {
      expect(metric).not.toHaveProperty("buckets");
      continue;
    }
    // Weights and scores have no unit.
    if (!("binned" in metric)) expect(metric.name).toMatch(UNITS);
    expect(metric.buckets.length).toBeGreaterThan(1);
    expect([...metric.buckets].sort((a, b) => a - b)).toEqual([...metric.buckets]);
    expect(new Set(metric.buckets).size).toBe(metric.buckets.length);
  }
});

test("buckets of what is counted elsewhere are among the bounds that it is counted by", () => {
  const binned = table.flatMap((m) => ("binned" in m ? [m] : []));
  expect(binned.map((m) => m.name)).toEqual(["dataflex_weight_value", "dataflex_score_value"]);
  for (const { buckets, binned: bounds } of binned) expect(bounds).toEqual(expect.arrayContaining([...buckets]));
});

test("labels come from the vocabulary, without what Prometheus reserves", () => {
  for (const { labels } of table) {
    expect(new Set(labels).size).toBe(labels.length);
    for (const label of labels) {
      expect(Object.keys(LABELS)).toContain(label);
      expect(["le", "quantile", "job", "instance"]).not.toContain(label);
    }
  }
});

test("no label is an id: those would make a series each", () => {
  const ids = ["step", "uid", "row", "job_id", "worker", "pid", "host", "key", "shape", "path", "error", "trace_id"];
  expect(Object.keys(LABELS).filter((l) => ids.includes(l))).toEqual([]);
});

test("every label is used, and is either a closed list or capped", () => {
  const used = new Set<string>(table.flatMap((m) => [...m.labels]));
  for (const [name, rule] of Object.entries(LABELS)) {
    expect(used).toContain(name);
    if ("cap" in rule) expect(rule.cap).toBeGreaterThan(0);
    else expect(new Set(rule.values).size).toBe(rule.values.length);
  }
  expect(LABELS.reason.values).toBe(FAILURE_REASONS);
});

test("weight and score statistics carry run, pipeline and delivered; gauges once over all brokers, counts from each worker", () => {
  for (const metric of table.filter((m) => /^dataflex_(weight|score|mix)_/.test(m.name))) {
    expect(metric.labels.slice(0, 3)).toEqual(["run", "pipeline", "delivered"]);
    const binned = "binned" in metric;
    expect([metric.name, metric.by, metric.shared]).toEqual([metric.name, [binned ? "worker" : "broker"], !binned]);
  }
});

test("help texts are sentences of one line", () => {
  for (const { help } of table) expect(help).toMatch(/^[A-Z0-9][^\n]*\.$/);
});

test("each registry gets its part of the table, and no part is lost", () => {
  const parts = [metricsOf("broker", true), metricsOf("broker", false), metricsOf("worker", false)];
  const names = (part: (typeof parts)[number]): string[] => part.map((m) => m.name);
  expect(new Set(parts.flatMap(names)).size).toBe(table.length);
  expect(names(parts[0]!).filter((n) => names(parts[1]!).includes(n))).toEqual([]);
  expect(metricsOf("worker", true)).toEqual([]);
});

test("a run's label is the run where that is plain and short; otherwise it is told apart by a hash", () => {
  expect(runLabel("verl/qwen7b-grpo_3.1")).toBe("verl/qwen7b-grpo_3.1");
  const hostile = ['a"b', "a\\b", "a\nb", "a{b}", "a b", "ä", "", "_other", "x".repeat(65), "x".repeat(66)];
  const labels = hostile.map(runLabel);
  expect(new Set(labels).size).toBe(hostile.length);
  for (const label of labels) expect(label).toMatch(/^[A-Za-z0-9._/:@+=-]{0,53}~[0-9a-f]{10}$/);
});
