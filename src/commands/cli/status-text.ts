import type { HistoryRecord } from "../../observe/history/history-record.js";
import type { Overview, RunView, WorkerView } from "../../observe/status/overview-types.js";
import type { SeenStatus } from "./status-read.js";
import { plain, tableText } from "./table.js";

const STATES: Record<RunView["state"], string> = {
  live: "live",
  no_worker: "NO WORKER",
  silent: "trainer silent",
  ended: "ended",
};
const STEPS = 10;

type Section = (title: string, heads: readonly string[], rows: readonly (readonly string[])[], none: string) => string;

/** The whole status as a page of text, for a terminal of the given width. Names from outside are printed without control characters. */
export function statusText(seen: SeenStatus, columns?: number): string {
  const section: Section = (title, heads, rows, none) => tableText(title, heads, rows, none, columns);
  const { overview } = seen;
  const runs = seen.run === undefined ? overview.runs : overview.runs.filter((r) => r.run === seen.run);
  return [
    factText(overview),
    section(
      "runs",
      ["run", "state", "verdict", "step", "phase", "steps/min", "ESS", "kept"],
      runs.map(runRow),
      "no run is mounted",
    ),
    ...runs.flatMap(verdictText),
    ...(seen.records && runs[0] ? [pipelinesText(runs[0], section), stepsText(seen.records, section)] : []),
    section(
      "queues",
      ["stage", "waiting", "active", "failed", "oldest", "workers", "slots"],
      overview.queues.map((q) => [
        q.stage,
        sum(q.counts, "waiting", "prioritized", "delayed"),
        sum(q.counts, "active"),
        sum(q.counts, "failed"),
        spanOf(q.oldest_ms),
        String(q.workers),
        String(q.slots),
      ]),
      "none",
    ),
    section(
      "workers",
      [
        "worker",
        "host",
        "pid",
        "device",
        "state",
        "slots",
        "jobs/min",
        "last job",
        "loop lag",
        "tensors",
        "python",
        "version",
      ],
      overview.workers.map((w) => workerRow(w, overview.at)),
      "none is running; start one: dataflex-mq worker",
    ),
    section(
      "last errors",
      ["when", "code", "run", "pipeline", "step", "what happened"],
      overview.errors
        .slice(0, STEPS)
        .map((e) => [new Date(e.at).toISOString().slice(11, 19), e.code, e.run, e.pipeline, String(e.step), e.message]),
      "none",
    ),
  ].join("\n");
}

/** One line with what changes, for logs. */
export function lineText({ overview, run }: SeenStatus): string {
  const runs = overview.runs.filter((r) => (run === undefined ? r.state !== "ended" : r.run === run));
  const parts = runs.map((r) => `${plain(r.run)} step ${r.step ?? "-"} ${r.phase ?? ""} ESS ${essOf(r)}`);
  const waiting = overview.queues.reduce((n, q) => n + (q.counts.waiting ?? 0), 0);
  const fact = overview.banner.level === "ok" ? "" : ` · ${plain(overview.banner.text)}`;
  return `${parts.join(" · ") || "no live run"} · queue ${waiting} · workers ${overview.workers.length}${fact}`;
}

function factText({ banner, version, redis }: Overview): string {
  const fix = banner.fix === undefined ? "" : `\n  fix: ${banner.fix}`;
  return `dataflex-mq ${version} on Redis ${redis.version}\n${banner.level === "ok" ? "ok" : banner.level.toUpperCase()}  ${plain(banner.text)}${fix}\n`;
}

/** What is wrong with a run that has not ended, each reason with what to do. */
function verdictText({ run, state, verdict }: RunView): string[] {
  if (state === "ended" || verdict.reasons.length === 0) return [];
  const lines = verdict.reasons.map(({ level, text, fix, since_step }) => {
    const since = since_step === null ? "" : `, since step ${since_step}`;
    return `  ${level === "bad" ? "BAD " : "warn"}  ${plain(text)}${since}\n        ${plain(fix)}`;
  });
  return [`WHAT IS WRONG WITH ${plain(run)}\n${lines.join("\n")}\n`];
}

function runRow(run: RunView): string[] {
  const pace = run.steps_per_minute === null ? "-" : run.steps_per_minute.toFixed(1);
  const settled = run.settled ? ` ${run.settled[0]}/${run.settled[1]}` : "";
  return [
    run.run,
    STATES[run.state],
    run.state === "ended" ? "-" : run.verdict.level,
    String(run.step ?? "-"),
    `${run.phase ?? "-"}${settled}`,
    pace,
    essOf(run),
    keptOf(run),
  ];
}

function workerRow(w: WorkerView, now: number): string[] {
  return [
    w.id.slice(0, 8),
    w.host,
    String(w.pid),
    w.device === w.backend ? w.device : `${w.backend} on ${w.device}`,
    w.state,
    `${w.active}/${w.slots}`,
    String(w.jobs_last_minute),
    w.last_job === null ? "none yet" : `${spanOf(now - w.last_job)} ago`,
    `${w.loop_lag_ms} ms`,
    `${(w.tensor_bytes / 1e6).toFixed(1)} MB`,
    pythonText(w.python),
    w.version,
  ];
}

/** Where a worker's Python processes compute, what they hold, and what is wrong with them. */
function pythonText(python: WorkerView["python"]): string {
  if (python === null) return "-";
  const { slots } = python;
  const devices = [...new Set(slots.map(({ device }) => device))].join(" ");
  const [rss, gpu, restarts] = (["rss_bytes", "gpu_bytes", "restarts"] as const).map((of) =>
    slots.reduce((n, slot) => n + slot[of], 0),
  ) as [number, number, number];
  const down = slots.filter(({ up }) => !up).length;
  return [
    `${devices}, ${(rss / 1e9).toFixed(1)} GB`,
    ...(gpu > 0 ? [`GPU ${(gpu / 1e9).toFixed(1)} GB`] : []),
    ...(down > 0 ? [`${down} of ${slots.length} DOWN`] : []),
    ...(restarts > 0 ? [`${restarts} restarts`] : []),
  ].join(", ");
}

/** A span of time, short. */
function spanOf(ms: number | null): string {
  if (ms === null) return "-";
  return ms < 120_000 ? `${(Math.max(0, ms) / 1_000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

const shown = (run: RunView) =>
  run.pipelines.find((p) => p.delivered && p.mechanism === "reweight") ?? run.pipelines[0];
const numberOf = (value: number | null | undefined): string => (value == null ? "-" : value.toFixed(3));
const essOf = (run: RunView): string => numberOf(run.last[shown(run)?.name ?? ""]?.ess);
const keptOf = (run: RunView): string => numberOf(run.last[shown(run)?.name ?? ""]?.kept);
const sum = (counts: Readonly<Record<string, number>>, ...states: readonly string[]): string =>
  String(states.reduce((n, state) => n + (counts[state] ?? 0), 0));

function pipelinesText(run: RunView, section: Section): string {
  const rows = run.pipelines.map((p) => {
    const last = run.last[p.name];
    const how = `${p.scorer ?? "-"} -> ${p.actuator}`;
    return [
      p.name,
      p.mechanism,
      p.stage,
      how,
      p.delivered ? "yes" : "shadow",
      String(last?.step ?? "-"),
      numberOf(last?.ess),
      numberOf(last?.kept),
    ];
  });
  return section(
    "pipelines",
    ["pipeline", "mechanism", "stage", "scorer -> actuator", "delivered", "last step", "ESS", "kept"],
    rows,
    "none",
  );
}

function stepsText(records: readonly HistoryRecord[], section: Section): string {
  const rows = records.slice(0, STEPS * 2).flatMap((r) => {
    if (r.kind === "released" || r.kind === "mounted") return [];
    const took = r.ms === null ? "-" : `${r.ms} ms`;
    if (r.kind === "failure") return [[String(r.step), r.pipeline, "-", "-", "-", took, r.code]];
    return [
      [
        String(r.step),
        r.pipeline,
        numberOf(r.stats?.ess_ratio),
        numberOf(r.stats?.mean),
        numberOf(r.stats?.max),
        took,
        r.flags.join(" "),
      ],
    ];
  });
  return section(
    "newest steps",
    ["step", "pipeline", "ESS", "mean", "highest", "took", "notes"],
    rows.slice(0, STEPS),
    "none yet",
  );
}
