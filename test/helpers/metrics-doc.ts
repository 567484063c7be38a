import { METRICS, type MetricDefinition } from "../../src/observe/metrics/definitions.js";
import { LABELS } from "../../src/observe/metrics/labels.js";

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
  return Object.entries(blocks).reduce((doc, [name, lines]) => fill(doc, name, lines), text);
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

function fill(text: string, name: string, lines: readonly string[]): string {
  const block = new RegExp(`(<!-- generated: ${name} -->\n)[\\s\\S]*?(<!-- end -->)`);
  if (!block.test(text)) throw new Error(`docs/metrics.md has no block "${name}"`);
  return text.replace(block, (_, open: string, close: string) => `${open}\n${lines.join("\n")}\n\n${close}`);
}
