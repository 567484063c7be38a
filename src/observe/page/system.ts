import { byId, fixParts, h, refill, scroller, setText, table } from "./dom.js";
import { ago, bytes, count, duration, NONE, number, span } from "./format.js";
import type { Fact, FailureRecord, Overview, QueueView, WorkerView } from "./page-types.js";

const SIGNS = { ok: "✓", note: "i", warning: "▲", critical: "✕" } as const;

const WORKER_SIGNS: Record<WorkerView["state"], string> = { idle: "○", busy: "●", unready: "■", late: "▲" };

const box = (id: string, name: string): HTMLElement => {
  const made = scroller(name);
  byId(id).append(made);
  return made;
};
const boxes = {
  queues: box("queues", "Queues"),
  workers: box("workers", "Workers"),
  errors: box("errors", "Last errors"),
};

/** Queues, workers, errors: what does not depend on the selected run. */
export function showSystem(overview: Overview, open: (error: FailureRecord) => void): void {
  const { redis, workers, brokers } = overview;
  const full = redis.max > 0 ? ` of ${bytes(redis.max)}` : "";
  const parts = [
    count(brokers.length, "broker"),
    count(workers.length, "worker"),
    `Redis ${redis.version}, ${bytes(redis.used)}${full}`,
  ];
  setText(byId("system"), parts.join(" · "));
  boxes.queues.replaceChildren(queueTable(overview.queues));
  boxes.workers.replaceChildren(workerTable(workers, overview.at));
  const { errors } = boxes;
  const newest = `${overview.errors[0]?.id ?? "none"} ${Math.floor(overview.at / 10_000)}`;
  if (errors.dataset.newest !== newest) {
    errors.dataset.newest = newest;
    refill(errors, errorTable(overview.errors, overview.at, open));
  }
}

/** One fact, with its sign and the line that fixes it. Left alone while it stays the same. */
export function showBanner({ level, text, fix }: Pick<Fact, "level" | "text" | "fix">): void {
  const banner = byId("banner");
  const said = `${level}${text}${fix ?? ""}`;
  if (banner.dataset.said === said) return;
  banner.dataset.said = said;
  banner.className = `banner ${level}`;
  banner.replaceChildren(
    h("span", { class: "sign", "aria-hidden": "true" }, SIGNS[level]),
    h("span", {}, text),
    ...(fix === undefined ? [] : [h("span", {}, ...fixParts(fix))]),
  );
}

function queueTable(queues: readonly QueueView[]): HTMLElement {
  const of = (q: QueueView, state: string): number => q.counts[state] ?? 0;
  // Workers with other components have queues of their own.
  const twins = (q: QueueView): boolean => queues.filter((other) => other.stage === q.stage).length > 1;
  const named = (q: QueueView): string => (twins(q) ? q.queue : q.stage);
  return table(
    "Queues by stage",
    [
      { head: "stage", cell: (q) => h("span", { class: "clip", title: q.queue }, named(q)) },
      { head: "waiting", number: true, cell: (q) => of(q, "waiting") + of(q, "prioritized") + of(q, "delayed") },
      { head: "active", number: true, cell: (q) => of(q, "active") },
      { head: "failed", number: true, cell: (q) => of(q, "failed") },
      { head: "oldest", number: true, cell: (q) => duration(q.oldest_ms) },
      { head: "workers", number: true, cell: (q) => q.workers },
      { head: "slots", number: true, cell: (q) => q.slots },
    ],
    queues,
    "No queue yet: a worker opens them.",
  );
}

function workerTable(workers: readonly WorkerView[], now: number): HTMLElement {
  return table(
    "Live workers",
    [
      { head: "worker", cell: (w) => h("code", { title: w.id }, w.id.slice(0, 8)) },
      { head: "state", cell: (w) => `${WORKER_SIGNS[w.state]} ${w.state}` },
      { head: "host", cell: (w) => h("span", { class: "clip", title: `process ${w.pid}` }, w.host) },
      { head: "device", cell: (w) => (w.device === w.backend ? w.device : `${w.backend} on ${w.device}`) },
      { head: "slots", number: true, cell: (w) => `${w.active} of ${w.slots}` },
      { head: "jobs/min", number: true, cell: (w) => number(w.jobs_last_minute) },
      { head: "last job", number: true, cell: (w) => (w.last_job === null ? NONE : ago(w.last_job, now)) },
      { head: "loop lag", number: true, cell: (w) => duration(w.loop_lag_ms) },
      { head: "tensors", number: true, cell: (w) => bytes(w.tensor_bytes) },
      { head: "python", cell: (w) => pythonCell(w.python) },
      { head: "up", number: true, cell: (w) => span(Math.max(0, now - w.started)) },
      { head: "version", cell: (w) => w.version },
    ],
    workers,
    "No worker is running. Start one: dataflex-mq worker",
  );
}

/** Where its Python processes compute and what they hold; more on hovering. */
function pythonCell(python: WorkerView["python"]): Node | string {
  if (python === null) return NONE;
  const { slots } = python;
  const down = slots.filter(({ up }) => !up).length;
  const rss = slots.reduce((n, slot) => n + slot.rss_bytes, 0);
  const gpu = slots.reduce((n, slot) => n + slot.gpu_bytes, 0);
  const devices = [...new Set(slots.map(({ device }) => device))].join(", ");
  const text = `${devices} · ${bytes(rss)}${gpu > 0 ? ` + ${bytes(gpu)} GPU` : ""}${down > 0 ? ` · ▲ ${down} of ${slots.length} down` : ""}`;
  const each = slots.map(
    ({ device, model, gpu, reason, restarts }, i) =>
      `slot ${i}: ${[device, model, gpu ?? "", reason, count(restarts, "restart")].filter(Boolean).join(", ")}`,
  );
  const torch = python.torch === null ? "" : `, torch ${python.torch}`;
  const title = [`Python ${python.python}${torch}`, ...each, python.components.join(", ")].join("\n");
  return h("span", { class: "clip", title }, text);
}

function errorTable(errors: readonly FailureRecord[], now: number, open: (error: FailureRecord) => void): HTMLElement {
  return table(
    "Last errors",
    [
      { head: "when", cell: (e) => h("span", { title: new Date(e.at).toISOString() }, ago(e.at, now)) },
      { head: "code", cell: (e) => h("code", {}, e.code) },
      { head: "run", cell: (e) => h("bdi", { class: "clip", title: e.run }, e.run) },
      { head: "pipeline", cell: (e) => e.pipeline || NONE },
      {
        head: "step",
        number: true,
        cell: (e) =>
          h("button", { type: "button", class: "link", "data-key": e.id, click: () => open(e) }, String(e.step)),
      },
      { head: "what happened", cell: (e) => h("span", { class: "message" }, e.message) },
    ],
    errors,
    "No step has failed.",
  );
}
