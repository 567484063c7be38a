import type { PipelineAnswer, PlainWeights, ReplayAnswer } from "./answer.js";
import type { RecordedStep } from "./recorded-step.js";

/** Rows of the table; more would scroll the summary out of view, and `--json` has them all. */
const MAX_ROWS = 20;
const MAX_TOKENS = 6;

/** A replay for people: a block a pipeline, then the first rows with their combined weights, then where it ran. */
export function replayText(step: RecordedStep, answer: ReplayAnswer): string {
  return [
    `step ${answer.step}, ${step.rows} rows${answer.adv_estimator === undefined ? "" : `, ${answer.adv_estimator}`}`,
    ...answer.notes.map((note) => `note: ${note}`),
    ...answer.pipelines.flatMap(pipelineLines),
    "",
    ...rowLines(step, answer),
    "",
    evidenceLine(answer),
    "",
  ].join("\n");
}

function pipelineLines(p: PipelineAnswer): string[] {
  const { stats } = p;
  const kept = p.kept === undefined ? [] : [`  kept     ${p.kept.length} rows`];
  const shares = Object.entries(p.proportions ?? {}).map(([domain, share]) => `${domain} ${share.toFixed(4)}`);
  return [
    "",
    `pipeline ${p.name}: ${p.mechanism}, ${p.stage}, ${p.mechanism === "mix" ? "shares of domains" : `weights per ${p.granularity}`}`,
    ...kept,
    ...(shares.length === 0 ? [] : [`  shares   ${shares.join(", ")}`]),
    ...(stats === undefined ? [] : [`  weights  ${statsText(stats)}`]),
    ...Object.entries(p.metrics).map(([name, value]) => `  ${name}  ${compact(value)}`),
    ...p.flags.map((flag) => `  flag: ${flag}`),
    ...p.warnings.map((warning) => `  warning: ${warning}`),
  ];
}

function statsText(stats: Readonly<Record<string, number>>): string {
  const shown = ["mean", "std", "min", "max", "ess_ratio", "kept_ratio"].filter((name) => stats[name] !== undefined);
  return shown.map((name) => `${name} ${compact(stats[name]!)}`).join("   ");
}

function rowLines(step: RecordedStep, { combined, pipelines }: ReplayAnswer): string[] {
  if (combined.length === 0) return ["no weights: the pipelines mix domains only"];
  const names = pipelines.filter((p) => p.weights.length > 0);
  const columns = [
    { title: "row", cells: rowsShown(combined, (row) => String(row)) },
    ...(step.uid === undefined ? [] : [{ title: "uid", cells: rowsShown(combined, (row) => short(step.uid![row]!)) }]),
    ...names.map((p) => ({ title: p.name, cells: rowsShown(combined, (row) => cell(p.weights, row)) })),
    ...(names.length === 1 ? [] : [{ title: "combined", cells: rowsShown(combined, (row) => cell(combined, row)) }]),
  ];
  const widths = columns.map(({ title, cells }) => Math.max(title.length, ...cells.map((text) => text.length)));
  const line = (texts: readonly string[]): string =>
    `  ${texts.map((text, i) => text.padEnd(widths[i]!)).join("  ")}`.trimEnd();
  const lines = columns[0]!.cells.map((_, row) => line(columns.map(({ cells }) => cells[row]!)));
  const rest = combined.length - lines.length;
  return [
    line(columns.map(({ title }) => title)),
    ...lines,
    ...(rest > 0 ? [`  … ${rest} more rows (--json prints all)`] : []),
  ];
}

function rowsShown(all: PlainWeights, text: (row: number) => string): string[] {
  return Array.from({ length: Math.min(MAX_ROWS, all.length) }, (_, row) => text(row));
}

function cell(weights: PlainWeights, row: number): string {
  const value = weights[row]!;
  if (typeof value === "number") return compact(value);
  const shown = value.slice(0, MAX_TOKENS).map(compact).join(" ");
  return value.length > MAX_TOKENS ? `${shown} …` : shown;
}

function evidenceLine({ evidence, timings }: ReplayAnswer): string {
  const jobs = evidence.job_ids.length === 1 ? "1 job" : `${evidence.job_ids.length} jobs`;
  const workers = evidence.worker_pids.join(", ");
  return `${jobs} on worker process ${workers}, ${evidence.stream_entries} stream entries; waited ${compact(timings.wait_ms ?? 0)} ms`;
}

/** Six significant digits without trailing zeros. */
function compact(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
}

function short(text: string): string {
  return text.length > 20 ? `${text.slice(0, 19)}…` : text;
}
