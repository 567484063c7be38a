import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { metricsDoc } from "../../scripts/metrics-doc.js";
import { METRICS } from "../../src/observe/metrics/definitions.js";

test("docs/metrics.md lists the metrics and labels as the code has them (npx tsx scripts/gen-metrics.ts)", () => {
  const text = readFileSync(new URL("../../docs/metrics.md", import.meta.url), "utf8");
  expect(metricsDoc(text)).toBe(text);
});

const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
type Rules = { groups: { rules: { alert: string }[] }[] };
const alerts = ["dataflex", "verdict"].flatMap((name) =>
  (parse(read(`config/prometheus/rules/${name}.yml`)) as Rules).groups.flatMap(({ rules }) =>
    rules.map((r) => r.alert),
  ),
);

describe.each(["metrics", "dashboards", "operations"])("docs/%s.md", (page) => {
  const text = read(`docs/${page}.md`);

  test("names only metrics that there are", () => {
    const names = new Set<string>(METRICS.map((m) => m.name));
    const named = [...text.matchAll(/\bdataflex_\w+/g)].map(([name]) => name).filter((name) => name !== "dataflex_mq");
    expect(named.filter((name) => !names.has(name) && !names.has(name.replace(/_(bucket|sum|count)$/, "")))).toEqual(
      [],
    );
  });

  test("names only alerts that there are", () => {
    const named = [...text.matchAll(/\bDataflex[A-Z]\w+/g)].map(([name]) => name);
    expect(named.filter((name) => name !== "DataflexError" && !alerts.includes(name))).toEqual([]);
  });

  test("shows pictures that are there", () => {
    const named = [...text.matchAll(/!\[[^\]]+\]\((\S+)\)/g)].map(([, path]) => path);
    expect(named.filter((path) => !existsSync(new URL(`../../docs/${path}`, import.meta.url)))).toEqual([]);
  });
});

test("every alert has its place in docs/operations.md, and its severity in docs/dashboards.md", () => {
  for (const alert of alerts) {
    expect([alert, read("docs/operations.md").includes(alert)]).toEqual([alert, true]);
    expect([alert, read("docs/dashboards.md").includes(alert.replace("Dataflex", ""))]).toEqual([alert, true]);
  }
});
