import type { Change } from "./changes.js";
import { type ColumnSpec, h, refill, table } from "./dom.js";
import { duration, number, percent } from "./format.js";
import { COMBINED, type RunHistory } from "./page-history.js";
import type { PipelineView, ResultRecord } from "./page-types.js";

const STEPS_SHOWN = 12;
/** Domains that get a column of their own. */
const DOMAINS = 6;

/** The newest steps of a pipeline as a table; each opens. */
export function showSteps(
  box: HTMLElement,
  history: RunHistory,
  pipeline: PipelineView,
  changes: readonly Change[],
  openStep: (step: number) => void,
): void {
  const steps = history.newestSteps(STEPS_SHOWN);
  const shape = `${steps.join()} ${pipeline.name} ${history.newest}`;
  if (box.dataset.shape === shape) return;
  box.dataset.shape = shape;
  const result = (step: number): ResultRecord | undefined => history.at(pipeline.name, step);
  const notes = (step: number): string => {
    const neutral = history.neutral(step);
    const failed = [
      ...history.failures(step).map((f) => `✕ ${f.code}`),
      ...(neutral ? [`✕ trained without weights (${neutral})`] : []),
    ];
    const changed = changes.filter((c) => c.step === step).map((c) => `◆ ${c.text}`);
    return [...failed, ...changed, ...(result(step)?.flags ?? [])].join(" ");
  };
  const columns: ColumnSpec<number>[] = [
    {
      head: "step",
      cell: (s) => h("button", { type: "button", class: "link", "data-key": s, click: () => openStep(s) }, `Step ${s}`),
    },
    ...(pipeline.mechanism === "mix" ? shareColumns(steps, result) : weightColumns(result)),
    { head: "took", number: true, cell: (s) => duration(result(s)?.ms) },
    { head: "waited", number: true, cell: (s) => duration(history.wait(s)) },
    { head: "notes", cell: (s) => h("span", { class: "message" }, notes(s)) },
  ];
  const none = "No step yet: the trainer's first put starts one.";
  refill(
    box,
    table(
      `Newest steps of ${pipeline.name === COMBINED ? "what the loss takes" : `pipeline ${pipeline.name}`}`,
      columns,
      steps,
      none,
    ),
  );
}

type ResultOf = (step: number) => ResultRecord | undefined;

const weightColumns = (result: ResultOf): ColumnSpec<number>[] => [
  { head: "ESS", number: true, cell: (s) => number(result(s)?.stats?.ess_ratio) },
  { head: "kept", number: true, cell: (s) => percent(result(s)?.stats?.kept_ratio) },
  { head: "mean", number: true, cell: (s) => number(result(s)?.stats?.mean, 4) },
  { head: "highest", number: true, cell: (s) => number(result(s)?.stats?.max) },
];

function shareColumns(steps: readonly number[], result: ResultOf): ColumnSpec<number>[] {
  const domains = [...new Set(steps.flatMap((s) => Object.keys(result(s)?.proportions ?? {})))].slice(0, DOMAINS);
  return domains.map((name) => ({ head: name, number: true, cell: (s) => percent(result(s)?.proportions?.[name]) }));
}
