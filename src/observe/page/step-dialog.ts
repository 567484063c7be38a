import { byId, h, scroller, table } from "./dom.js";
import { duration, NONE, number, percent } from "./format.js";
import { runSegment } from "./loading.js";
import type { ExtremeRows, FailureRecord, ReleaseRecord, ResultRecord, StepRecord } from "./page-types.js";

/** All about one step, in a dialog: statistics, timings, lowest and highest weighted rows of each pipeline. */
export async function openStep(dialog: HTMLDialogElement, run: string, step: number): Promise<void> {
  const title = h("h2", { id: "step-title" }, `Step ${step}`);
  const close = h("button", { type: "button", class: "plain", click: () => dialog.close() }, "Close");
  const body = h("div", { class: "step-body" }, h("p", { class: "muted" }, "Loading…"));
  dialog.replaceChildren(h("header", {}, title, h("bdi", { class: "muted clip" }, run), close), body);
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close();
  };
  // The button that opened it may have been drawn anew meanwhile; then the browser cannot give the focus back.
  dialog.onclose = () => {
    if (document.activeElement !== document.body) return;
    const opener = document.querySelector<HTMLElement>(`#run [data-key="${step}"]`);
    (opener ?? byId("run")).focus({ preventScroll: true });
  };
  if (!dialog.open) dialog.showModal();
  try {
    const response = await fetch(`/api/v1/runs/${runSegment(run)}/steps/${step}`);
    if (!response.ok) throw new Error(`the broker answered ${response.status}`);
    const { records, rows } = (await response.json()) as { records: StepRecord[]; rows: Record<string, ExtremeRows> };
    body.replaceChildren(...sections(records, rows));
  } catch (error) {
    body.replaceChildren(
      h("p", { class: "bad" }, `This step cannot be shown: ${String(error)}. Close, and open it again.`),
    );
  }
}

function sections(records: readonly StepRecord[], rows: Readonly<Record<string, ExtremeRows>>): HTMLElement[] {
  const released = records.findLast((r): r is ReleaseRecord => r.kind === "released");
  const wait = released ? duration(released.wait_ms) : NONE;
  const parts = records.flatMap((record) => {
    if (record.kind === "failure") return [failure(record)];
    return record.kind === "result" ? [result(record, rows[record.id])] : [];
  });
  if (parts.length === 0) return [h("p", { class: "muted" }, "The history no longer holds this step.")];
  const words = h("p", {}, `The trainer waited ${wait} for the weights of this step.`);
  return [words, ...(released?.combined ? [combined(released.combined)] : []), ...parts];
}

function combined({ level, stats, clipped }: NonNullable<ReleaseRecord["combined"]>): HTMLElement {
  return h(
    "section",
    {},
    h("h3", {}, "All pipelines together", h("span", { class: "muted" }, " as the loss took them")),
    facts([
      ["effective sample size", number(stats.ess_ratio)],
      ["kept rows", percent(stats.kept_ratio)],
      ["mean", number(stats.mean, 4)],
      ["deviation", number(stats.std)],
      ["lowest, highest", `${number(stats.min)}, ${number(stats.max)}`],
      ["clipped low, high", `${percent(clipped.low)}, ${percent(clipped.high)}`],
      [level === "token" ? "tokens" : "rows", String(stats.n)],
    ]),
  );
}

function failure(f: FailureRecord): HTMLElement {
  return h(
    "section",
    {},
    h("h3", {}, f.pipeline),
    h("p", { class: "bad" }, `✕ ${f.code}: ${f.message}`),
    facts([
      ["stage", f.stage],
      ["by", f.worker],
      ["after", duration(f.ms)],
    ]),
  );
}

function result(r: ResultRecord, rows: ExtremeRows | undefined): HTMLElement {
  const { stats, score_stats: scores } = r;
  const numbers: [string, string][] = stats
    ? [
        ["effective sample size", number(stats.ess_ratio)],
        ["kept rows", percent(stats.kept_ratio)],
        ["weights of 0", percent(stats.zero_ratio)],
        ["mean", number(stats.mean, 4)],
        ["deviation", number(stats.std)],
        ["lowest, highest", `${number(stats.min)}, ${number(stats.max)}`],
        [r.granularity === "token" ? "tokens" : "rows", String(stats.n)],
      ]
    : [];
  if (scores) numbers.push(["mean score", `${number(scores.mean)} ± ${number(scores.std)}`]);
  for (const [domain, share] of Object.entries(r.proportions ?? {})) numbers.push([domain, percent(share)]);
  for (const [name, value] of Object.entries(r.metrics)) numbers.push([name.replaceAll("_", " "), number(value)]);
  const timings: [string, string][] = [
    ["first put to result", duration(r.ms)],
    ...Object.entries(r.timings).map(([phase, ms]): [string, string] => [phase, duration(ms)]),
  ];
  return h(
    "section",
    {},
    h("h3", {}, r.pipeline, h("span", { class: "muted" }, ` ${r.mechanism} · ${r.stage}`)),
    ...[...r.flags, ...r.warnings].map((text) => h("p", { class: "warn" }, `▲ ${text}`)),
    facts(numbers),
    h("h4", {}, "Timings"),
    facts(timings),
    h("p", { class: "muted" }, `One shard of ${r.rows} rows, by worker ${r.worker.slice(0, 8)} (pid ${r.pid}).`),
    ...extremes(rows),
  );
}

function facts(list: readonly (readonly [string, string])[]): HTMLElement {
  return h(
    "dl",
    { class: "facts-list" },
    ...list.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}

function extremes(found: ExtremeRows | undefined): HTMLElement[] {
  if (!found) return [];
  const { rows, weights, scores, uids } = found;
  const places = rows.map((_, i) => i);
  const half = rows.length > 10 ? Math.ceil(rows.length / 2) : rows.length;
  const columns = [
    { head: "row", number: true, cell: (i: number) => rows[i]! },
    ...(uids ? [{ head: "uid", cell: (i: number) => h("bdi", {}, uids[i]!) }] : []),
    { head: "weight", number: true, cell: (i: number) => number(weights[i]!, 4) },
    ...(scores ? [{ head: "score", number: true, cell: (i: number) => number(scores[i]!, 4) }] : []),
  ];
  const part = (title: string, of: readonly number[]): HTMLElement =>
    h("div", {}, h("h4", {}, title), scroller(title, table(title, columns, of, "None.")));
  return [
    h(
      "div",
      { class: "pair" },
      part("Lowest weights", places.slice(0, half)),
      ...(half < rows.length ? [part("Highest weights", places.slice(half).reverse())] : []),
    ),
  ];
}
