import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { alertRules, alertTests } from "../../scripts/alerts.js";
import { verdictDoc } from "../../scripts/verdict-doc.js";
import type { Io } from "../../src/commands/cli/io.js";
import { runCli } from "../../src/commands/cli/program.js";
import { METRICS, type MetricDefinition } from "../../src/observe/metrics/definitions.js";
import { LABELS } from "../../src/observe/metrics/labels.js";
import { REASON_KINDS } from "../../src/observe/verdict/reason-kinds.js";
import { describeWith } from "../helpers/packages.js";
import { promtool } from "../helpers/promtool.js";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly action: string; readonly runbook: string };
}
const FOLDER = "config/prometheus";
const text = (file: string): string => readFileSync(new URL(`../../${FOLDER}/${file}`, import.meta.url), "utf8");
const read = <T>(file: string): T => parse(text(file)) as T;
const FILES = ["dataflex", "verdict"];
const rules = FILES.flatMap((name) => read<{ groups: { rules: Rule[] }[] }>(`rules/${name}.yml`).groups).flatMap(
  (group) => group.rules,
);
const metrics = new Map<string, MetricDefinition>(METRICS.map((m) => [m.name, m]));

/** As GitHub names a heading in an address. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/g, "")
    .replaceAll(" ", "-");

/** Metric and labels of each selector in an expression. */
function selectors(expr: string): { metric: string; match: [label: string, values: string[]][] }[] {
  return [...expr.matchAll(/\b(dataflex_\w+)(?:\{([^}]*)\})?/g)].map(([, name = "", inside = ""]) => ({
    metric: metrics.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ""),
    match: [...inside.matchAll(/(\w+)=~?"([^"]*)"/g)].map(([, label = "", value = ""]) => [label, value.split("|")]),
  }));
}

describe("alert rules", () => {
  test("name metrics, labels and values as they are exported", () => {
    for (const { alert, expr } of rules) {
      for (const { metric, match } of selectors(expr)) {
        expect(metrics.has(metric), `${alert}: ${metric}`).toBe(true);
        for (const [label, values] of match) {
          expect([alert, metrics.get(metric)?.labels]).toEqual([alert, expect.arrayContaining([label])]);
          const rule = LABELS[label as keyof typeof LABELS];
          if ("values" in rule) for (const value of values) expect([alert, ...rule.values]).toContain(value);
        }
      }
    }
  });

  test("on runs are generated from the rules of the verdict (npx tsx scripts/gen-verdict.ts)", () => {
    expect(text("rules/verdict.yml")).toBe(alertRules());
    expect(text("tests/verdict.yml")).toBe(alertTests());
    const page = readFileSync(new URL("../../docs/live-page.md", import.meta.url), "utf8");
    expect(verdictDoc(page)).toBe(page);
    for (const { code, alerts } of REASON_KINDS) expect([code, Object.keys(alerts).length]).not.toEqual([code, 0]);
  });

  test("of weights look at delivered pipelines only", () => {
    for (const { alert, expr } of rules) {
      for (const { metric, match } of selectors(expr)) {
        if (!/^dataflex_(weights?|score|steps)_/.test(metric)) continue;
        expect([alert, Object.fromEntries(match).delivered]).toEqual([alert, ["true"]]);
      }
    }
  });

  test("say what is wrong and what to do", () => {
    expect(new Set(rules.map((r) => r.alert)).size).toBe(rules.length);
    for (const { labels, annotations } of rules) {
      expect(["critical", "warning", "info"]).toContain(labels.severity);
      expect(annotations.summary.length).toBeGreaterThan(20);
      expect(annotations.action.length).toBeGreaterThan(10);
    }
  });

  test("name a command to run next, and a heading of docs/operations.md that is there", async () => {
    const page = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");
    const headings = [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading));
    const io: Io = { out: () => {}, err: () => {}, env: {}, fancy: false, clear: () => {} };
    for (const { alert, annotations } of rules) {
      const command = /^dataflex-mq ([a-z]+)/.exec(annotations.action)?.[1] ?? "none";
      expect([alert, command, await runCli([command, "--help"], io)]).toEqual([alert, command, 0]);
      const [file, anchor] = annotations.runbook.split("#");
      expect([alert, file]).toEqual([alert, "docs/operations.md"]);
      expect([alert, headings.filter((h) => h === anchor)]).toEqual([alert, [anchor]]);
    }
  });

  test("are each tested to fire and to stay quiet", () => {
    type Tests = { tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[] };
    const cases = FILES.flatMap((name) => read<Tests>(`tests/${name}.yml`).tests.flatMap((t) => t.alert_rule_test));
    for (const { alert } of rules) {
      const own = cases.filter((c) => c.alertname === alert).map((c) => c.exp_alerts.length > 0);
      expect([alert, own.includes(true), own.includes(false)]).toEqual([alert, true, true]);
    }
  });
});

test("the scrape configuration finds every replica by name, at the services' own ports", () => {
  type Job = {
    job_name: string;
    sample_limit: number;
    dns_sd_configs: { names: string[]; type: string; port: number }[];
  };
  const { scrape_configs } = read<{ scrape_configs: Job[] }>("prometheus.yml");
  const jobs = scrape_configs.map((job) => [
    job.job_name,
    job.dns_sd_configs[0]!.names[0],
    job.dns_sd_configs[0]!.port,
  ]);
  expect(jobs).toEqual([
    ["dataflex-broker", "dataflex-brokers", 7411],
    ["dataflex-worker", "dataflex-workers", 9464],
  ]);
  for (const job of scrape_configs) expect(job.sample_limit).toBe(20_000);
});

describeWith("prometheus")("promtool", () => {
  test.each([
    ["check", "config", `${FOLDER}/prometheus.yml`],
    ...FILES.flatMap((name) => [
      ["check", "rules", `${FOLDER}/rules/${name}.yml`],
      ["test", "rules", `${FOLDER}/tests/${name}.yml`],
    ]),
  ])("%s %s", (...args) => {
    const { status, said } = promtool(args);
    expect([said, status]).toEqual([expect.stringContaining("SUCCESS"), 0]);
  });
});
