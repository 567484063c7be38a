import type { Get, Window } from "./ask.js";
import type { Alert } from "./browser/types.js";

type Labels = Readonly<Record<string, string>>;

/** How often rules are evaluated by the Prometheus of the script, s. */
const EVERY = 1;

/** Alerts about a run, or about a queue of its own, that Prometheus had at the end of the window, the ones that fire first. */
export async function alertsOf(
  get: Get,
  run: string,
  queues: ReadonlySet<string>,
  { from, to }: Window,
): Promise<Alert[]> {
  const query = `query=${encodeURIComponent("ALERTS")}&start=${from}&end=${to}&step=${EVERY}`;
  const { result } = await get<{ result: { metric: Labels; values: [number, string][] }[] }>(
    `/api/v1/query_range?${query}`,
  );
  const found = result.flatMap(({ metric, values }) => {
    const { alertname = "", alertstate, severity = "", queue } = metric;
    const mine = metric.run === undefined ? queue !== undefined && queues.has(queue) : metric.run === run;
    // ALERTS vanishes with its alert.
    if (!mine || values.at(-1)![0] < to - 5) return [];
    const state: Alert["state"] = alertstate === "firing" ? "firing" : "pending";
    const about = queue ?? metric.pipeline ?? "";
    return [{ name: alertname, severity, since: values[0]![0] - from, state, about }];
  });
  return found.toSorted((a, b) => a.state.localeCompare(b.state) || a.since - b.since);
}

/** Queues of the components that only this run uses. */
export async function queuesOf(get: Get, run: string, at: number): Promise<Set<string>> {
  const expr = `dataflex_scorer_mounted * on (scorer) group_left () (count by (scorer) (dataflex_run_info) == 1) and on (scorer) dataflex_run_info{run="${run}"}`;
  const { result } = await get<{ result: { metric: Labels }[] }>(
    `/api/v1/query?query=${encodeURIComponent(expr)}&time=${at}`,
  );
  return new Set(result.map(({ metric }) => metric.queue ?? ""));
}
