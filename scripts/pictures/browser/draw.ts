import { clock, format } from "./format.js";
import { plotHeat } from "./heat.js";
import { plotLines } from "./lines.js";
import { CLASSIC, colourOf } from "./palette.js";
import type { Alert, DrawnPanel, Picture } from "./types.js";

const COLUMNS = 24;
const WIDTH = 1064;
const GAP = 8;
const HEIGHT = 220;

/** Fills the page with one picture: title, alerts, panels from left to right and down. */
function draw(picture: Picture): void {
  const head = element("header", "");
  head.append(element("h1", `run ${picture.run}`), element("p", picture.says));
  const alerts = element("ul", "");
  alerts.className = "alerts";
  if (picture.alerts.length === 0) alerts.append(element("li", "No alert."));
  for (const alert of picture.alerts) alerts.append(alertItem(alert));
  head.append(alerts);
  const grid = element("main", "");
  for (const panel of picture.panels) grid.append(card(panel, picture));
  document.body.replaceChildren(head, grid);
}

function alertItem({ name, severity, since, state, about }: Alert): HTMLElement {
  const item = element("li", `${name} ${state} since ${clock(since)}${about ? ` (${about})` : ""}`);
  item.className = state === "firing" ? severity : "pending";
  return item;
}

function card(panel: DrawnPanel, { ill }: Picture): HTMLElement {
  const width = Math.floor((panel.width / COLUMNS) * (WIDTH + GAP)) - GAP;
  const box = element("section", "");
  box.style.width = `${width}px`;
  box.style.height = `${HEIGHT}px`;
  box.append(element("h2", panel.title));
  const inside = { width: width - 18, height: HEIGHT - 8 };
  if (panel.series.length === 0) box.append(element("div", "No data"));
  else if (panel.type === "timeseries") box.append(plotLines(panel, ill, inside));
  else if (panel.type === "heatmap") box.append(plotHeat(panel, ill, inside));
  else if (panel.type === "table") box.append(table(panel));
  else box.append(panel.type === "stat" ? stat(panel) : bars(panel));
  return box;
}

/** The colour of a panel's band that a value lies in. */
function bandColour({ thresholds }: DrawnPanel, value: number): string {
  return colourOf(thresholds.findLast((t) => t.value === null || value >= t.value)?.color ?? "green");
}

function stat(panel: DrawnPanel): HTMLElement {
  const box = element("div", "");
  box.className = "stat";
  for (const { name, values } of panel.series) {
    const number = element("strong", format(values.at(-1) ?? Number.NaN, panel.unit));
    number.style.color = bandColour(panel, values.at(-1) ?? 0);
    box.append(element("span", name), number);
  }
  return box;
}

function table(panel: DrawnPanel): HTMLElement {
  const labels = Object.keys(panel.series[0]?.labels ?? {}).filter((label) => label !== "__name__");
  const box = document.createElement("table");
  const head = document.createElement("tr");
  for (const name of [...labels, "Value"]) head.append(element("th", name));
  box.append(head);
  const sorted = panel.series.toSorted((a, b) => (b.values.at(-1) ?? 0) - (a.values.at(-1) ?? 0));
  for (const { labels: of, values } of sorted) {
    const row = document.createElement("tr");
    for (const label of labels) row.append(element("td", of[label] ?? ""));
    const value = element("td", format(values.at(-1) ?? Number.NaN, panel.unit));
    value.style.background = bandColour(panel, values.at(-1) ?? 0);
    value.className = "value";
    row.append(value);
    box.append(row);
  }
  return box;
}

function bars(panel: DrawnPanel): HTMLElement {
  const box = element("div", "");
  box.className = panel.series.length > 6 ? "bars many" : "bars";
  const most = Math.max(1e-9, panel.max ?? 0, ...panel.series.map((s) => s.values.at(-1) ?? 0));
  panel.series.forEach(({ name, values }, i) => {
    const value = values.at(-1) ?? 0;
    const own = panel.colours[name];
    const band = panel.thresholds.length > 0 ? bandColour(panel, value) : CLASSIC[i % CLASSIC.length]!;
    const colour = own ? colourOf(own) : band;
    const bar = element("div", "");
    const fill = element("i", "");
    fill.style.width = `${(100 * value) / most}%`;
    fill.style.background = colour;
    bar.append(fill);
    const number = element("strong", format(value, panel.unit));
    number.style.color = colour;
    box.append(element("span", name), bar, number);
  });
  return box;
}

function element(name: string, text: string): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

Object.assign(globalThis, { draw });
