import { METRICS, type MetricDefinition } from "../src/observe/metrics/definitions.js";
import { LABELS } from "../src/observe/metrics/labels.js";
import { fillBlock } from "./fill-block.js";

/** docs/metrics.md with its generated blocks as the code has them now. */
export function metricsDoc(text: string): string {
  const table: readonly MetricDefinition[] = METRICS;
  const shared = table.filter((m) => m.shared);
  const broker = table.filter((m) => !m.shared && m.by.includes("broker"));
  const worker = table.filter((m) => m.by.includes("worker") && !m.by.includes("broker"));
  const blocks = {
    shared: metricRows(shared),
    broker: metricRows(broker),
    worker: metricRows(worker),
    labels: labelRows(),
  };
  return Object.entries(blocks).reduce((doc, [name, lines]) => fillBlock(doc, name, lines), text);
}

function metricRows(metrics: readonly MetricDefinition[]): string[] {
  return [
    "| metric | type | labels | buckets | meaning |",
    "|---|---|---|---|---|",
    ...metrics.map((m) => {
      const cells = [`\`${m.name}\``, m.type, m.labels.join(" ") || "–", m.buckets?.join(" ") ?? "–", m.help];
      return `| ${cells.join(" | ")} |`;
    }),
  ];
}

function labelRows(): string[] {
  return [
    "| label | meaning | values |",
    "|---|---|---|",
    ...Object.entries(LABELS).map(([name, rule]) => {
      const values = "values" in rule ? rule.values.map((v) => `\`${v}\``).join(" ") : `at most ${rule.cap} at a time`;
      return `| \`${name}\` | ${rule.means} | ${values} |`;
    }),
  ];
}
