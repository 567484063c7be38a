import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { DATASOURCE_UID, grafanaJson } from "../../scripts/dashboards/grafana.js";
import { DASHBOARDS } from "../../scripts/dashboards/index.js";
import { panelsNamed } from "../../scripts/pictures/ask.js";
import { SCENARIOS } from "../../scripts/pictures/scenarios.js";
import { METRICS } from "../../src/observe/metrics/definitions.js";

const FOLDER = new URL("../../config/grafana/", import.meta.url);
const text = (file: string): string => readFileSync(new URL(file, FOLDER), "utf8");
const panels = Object.values(DASHBOARDS).flatMap((d) => d.panels.map((panel) => ({ dashboard: d.title, ...panel })));

test("the files are what the code makes of the dashboards (npx tsx scripts/gen-dashboards.ts)", () => {
  expect(readdirSync(new URL("dashboards", FOLDER)).sort()).toEqual(Object.keys(DASHBOARDS).sort());
  for (const [file, dashboard] of Object.entries(DASHBOARDS))
    expect(text(`dashboards/${file}`)).toBe(grafanaJson(dashboard));
});

test("the data source is the one that is provisioned, and can be chosen", () => {
  const { datasources } = parse(text("provisioning/datasources/prometheus.yml")) as { datasources: { uid: string }[] };
  expect(datasources.map((d) => d.uid)).toEqual([DATASOURCE_UID]);
  for (const dashboard of Object.values(DASHBOARDS)) {
    const json = grafanaJson(dashboard);
    expect(json).not.toContain("__inputs");
    const uids = [...json.matchAll(/"type": "prometheus",\s+"uid": "([^"]*)"/g)].map(([, uid]) => uid);
    expect(new Set(uids)).toEqual(new Set(["$datasource"]));
  }
});

describe.each(panels)("$dashboard / $title", (panel) => {
  test("says what one sees, what no data means, in which unit", () => {
    expect(panel.description).toMatch(/^[A-Z0-9].*\.$/);
    expect(panel.noData).toMatch(/[.?:] ?|dataflex-mq worker$/);
    expect(panel.unit).not.toBe("");
    expect(panel.queries.length).toBeGreaterThan(0);
  });

  test("matches no bucket bound, whose spelling differs between versions of Prometheus", () => {
    for (const { expr } of panel.queries) expect(expr).not.toMatch(/\ble=/);
  });
});

test("the pictures of docs/dashboards.md show panels that there are, of every run that the script makes", () => {
  const page = readFileSync(new URL("../../docs/dashboards.md", import.meta.url), "utf8");
  for (const { name, panels: titles } of SCENARIOS) {
    expect(panelsNamed(titles ?? []).map((p) => p.title)).toEqual(titles ?? []);
    expect(page).toContain(`images/dashboard-${name}.png`);
  }
});

test("panels have titles of their own; every metric is shown somewhere", () => {
  expect(new Set(panels.map((p) => p.title)).size).toBe(panels.length);
  const all = `${panels.flatMap((p) => p.queries.map((q) => q.expr)).join(" ")} `;
  // The list of runs is what the live page is for.
  const hidden = METRICS.map((m) => m.name).filter(
    (name) => !new RegExp(`\\b${name}(_bucket|_sum|_count)?\\b`).test(all),
  );
  expect(hidden).toEqual(["dataflex_run_info"]);
});
