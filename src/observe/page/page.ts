import { byId, h, setText } from "./dom.js";
import { get, loadHistory, loadNewest } from "./loading.js";
import { RunHistory } from "./page-history.js";
import type { HistoryRecord, Overview, PageConfig } from "./page-types.js";
import { RunList } from "./run-list.js";
import { RunPanel } from "./run-view.js";
import { openStep } from "./step-dialog.js";
import { type LinkState, Stream } from "./stream.js";
import { showBanner, showSystem } from "./system.js";
import { titleOf } from "./verdict-text.js";

/** Updates closer together than this look the same. */
const DRAW_MS = 200;
/** History is written a moment after the event, so records that were missed in between are asked for once more. */
const AGAIN_MS = 3_000;

/** An overview comes every second; after this long without one the page says so. */
const SILENT_MS = 6_000;

const LINKS: Record<LinkState, string> = { live: "● live", reconnecting: "◌ reconnecting…", paused: "‖ paused" };

const histories = new Map<string, RunHistory>();
const list = new RunList(byId("runs"), (run) => select(run, true));
let config: PageConfig;
let overview: Overview;
let panel: RunPanel | undefined;
let selected: string | undefined;
let stream: Stream | undefined;
let drawing = false;
let linked: LinkState | undefined;
let heard = 0;

function historyOf(run: string): RunHistory {
  const known = histories.get(run);
  if (known) return known;
  const history = new RunHistory();
  histories.set(run, history);
  return history;
}

async function load(run: string): Promise<void> {
  const records = overview.runs.find((r) => r.run === run)?.records ?? 0;
  await loadHistory(historyOf(run), run, records);
  draw();
}

async function catchUp(): Promise<void> {
  show(await get<Overview>("/overview"));
  if (selected === undefined) return;
  await loadNewest(historyOf(selected), selected);
  draw();
}

function select(run: string | undefined, byHand = false): void {
  if (run === selected) return;
  selected = run;
  panel = run === undefined ? undefined : new RunPanel(run, config, { openStep: (step) => showStep(run, step) });
  byId("run").replaceChildren(panel?.element ?? empty());
  if (byHand && run !== undefined) history.replaceState(null, "", `#run=${encodeURIComponent(run)}`);
  draw();
  if (run !== undefined) load(run).catch(problem);
}

const empty = (): HTMLElement =>
  h(
    "section",
    { class: "card empty" },
    h("h2", {}, "No run yet"),
    h("p", {}, "A run appears here when a trainer mounts it on this broker's Redis. To see one now:"),
    h("p", {}, h("code", {}, "DFX_REDIS_URL=… npx dataflex-mq demo --watch")),
  );

function showStep(run: string, step: number): void {
  void openStep(byId("step") as HTMLDialogElement, run, step);
}

function show(next: Overview): void {
  overview = next;
  heard = performance.now();
  draw();
}

/** All changes of one moment are drawn together. */
function draw(): void {
  if (drawing) return;
  drawing = true;
  setTimeout(() => {
    drawing = false;
    if (!document.hidden) drawNow();
  }, DRAW_MS);
}

function drawNow(): void {
  const wanted = wantedRun();
  if (wanted !== selected) {
    select(wanted);
    return;
  }
  showFact();
  showSystem(overview, (error) => showStep(error.run, error.step));
  list.show(overview.runs, selected);
  document.title = titleOf(overview.runs);
  const view = overview.runs.find((r) => r.run === selected);
  if (panel && view) panel.show(view, historyOf(view.run));
}

/** The run of the address (a choice by hand stands there too) once it is there; else the one shown, else the first live one. */
function wantedRun(): string | undefined {
  const has = (run: string | undefined): boolean => overview.runs.some((r) => r.run === run);
  const asked = /^#run=(.+)$/.exec(location.hash)?.[1];
  const named = asked === undefined ? undefined : decodeRun(asked);
  if (has(named)) return named;
  if (has(selected)) return selected;
  return (overview.runs.find((r) => r.state !== "ended") ?? overview.runs[0])?.run;
}

function decodeRun(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function link(state: LinkState): void {
  linked = state;
  // What arrived before the tab was hidden, or the broker away, is out of date.
  heard = performance.now();
  const pill = byId("link");
  setText(pill, LINKS[state]);
  pill.className = `pill ${state}`;
  showFact();
}

/** The most severe known fact; a lost connection comes before all of them. */
function showFact(): void {
  const stale = "What is shown is what was last known; the page keeps retrying.";
  if (linked === "reconnecting") {
    showBanner({ level: "critical", text: `The broker does not answer. ${stale}`, fix: "dataflex-mq broker" });
  } else if (linked === "live" && performance.now() - heard > SILENT_MS) {
    showBanner({ level: "critical", text: `The broker's Redis does not answer. ${stale}`, fix: "dataflex-mq doctor" });
  } else showBanner(overview.banner);
}

function problem(error: unknown): void {
  showBanner({ level: "warning", text: `Something could not be loaded: ${String(error)}. Reload the page.` });
}

async function start(): Promise<void> {
  [config, overview] = await Promise.all([get<PageConfig>("/config"), get<Overview>("/overview")]);
  byId("run").replaceChildren(empty());
  drawNow();
  stream = new Stream(overview.cursor, {
    onStep: (text) => {
      const record = JSON.parse(text) as HistoryRecord;
      // Of other runs the list shows enough; their history is loaded when they are selected.
      if (record.run === selected && historyOf(record.run).add(record)) draw();
    },
    onOverview: (text) => show(JSON.parse(text) as Overview),
    onGap: () => void catchUp().catch(problem),
    onLink: link,
    onReturn: () => {
      catchUp().catch(problem);
      setTimeout(() => void catchUp().catch(() => {}), AGAIN_MS);
    },
  });
  setTimeout(() => void catchUp().catch(() => {}), AGAIN_MS);
  setInterval(showFact, SILENT_MS / 3);
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
addEventListener("hashchange", () => {
  const run = decodeRun(/^#run=(.+)$/.exec(location.hash)?.[1] ?? "");
  if (overview.runs.some((r) => r.run === run)) select(run);
});

/** For tests, and for debugging from the console. */
Object.assign(window, {
  __dataflex: {
    series: (pipeline: string) => (selected === undefined ? undefined : historyOf(selected).of(pipeline)),
    selected: () => selected,
    reads: () => stream?.reads ?? false,
  },
});

start().catch((error) => {
  showBanner({ level: "critical", text: `The page cannot start: ${String(error)}. It will retry by itself.` });
  setTimeout(() => location.reload(), 3_000);
});
