import { axis, color, drawLimit, padded, theme } from "./chart-parts.js";
import { h, scroller, table } from "./dom.js";
import { number } from "./format.js";
import uPlot from "./vendor/uplot.js";

export interface Line {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** Custom property with the line's colour. */
  readonly color: string;
  readonly dash?: boolean;
  /** Drawn only as the edge of a band. */
  readonly edge?: boolean;
  readonly format?: (value: number | null) => string;
}
export interface LineData {
  readonly steps: readonly number[];
  readonly lines: readonly Line[];
  /** Pairs of lines (upper, lower) with the space between them filled. */
  readonly bands?: readonly (readonly [number, number])[];
  readonly range?: readonly [number | null, number | null];
  /** A value at which worry begins. */
  readonly limit?: number;
}

const HEIGHT = 190;
/** Rows of a chart's table: the newest; all of them stand in the API. */
const ROWS = 50;

/** A chart in a figure of its own: title, what it says in words, canvas, and the same numbers as a table. */
export class Figure {
  readonly element: HTMLElement;
  readonly #words = h("p", { class: "words" });
  readonly #plot = h("div", { class: "plot", "aria-hidden": "true" });
  readonly #legend = h("ul", { class: "legend" });
  readonly #table: HTMLElement;
  readonly #details: HTMLDetailsElement;
  #chart: uPlot | undefined;
  #shape = "";
  #fill: () => HTMLElement = () => h("p", {}, "nothing yet");

  constructor(id: string, title: string, about: string) {
    this.#table = scroller(`${title}, as a table`);
    this.#details = h("details", {}, h("summary", {}, "As a table"), this.#table);
    this.#details.addEventListener("toggle", () => this.#fillTable());
    this.element = h(
      "figure",
      { class: "card", id, "aria-labelledby": `${id}-title` },
      h("figcaption", {}, h("h3", { id: `${id}-title`, title: about }, title), this.#words),
      this.#legend,
      this.#plot,
      this.#details,
    );
    new ResizeObserver(() => this.#chart?.setSize(this.#size())).observe(this.#plot);
  }

  lines(words: string, data: LineData): void {
    const bands = (data.bands ?? []).map(([top, bottom]) => ({
      series: [top + 1, bottom + 1] as [number, number],
      fill: color("--band"),
    }));
    const series: uPlot.Series[] = data.lines.map((line) => ({
      label: line.label,
      stroke: line.edge ? "transparent" : color(line.color),
      width: line.edge ? 0 : 2,
      ...(line.dash ? { dash: [6, 4] } : {}),
      points: { show: data.steps.length < 2, size: 6 },
      spanGaps: true,
    }));
    const options = {
      series: [{ label: "step" }, ...series],
      bands,
      scales: {
        x: {
          time: false,
          ...(data.steps.length === 1 ? { range: [data.steps[0]! - 1, data.steps[0]! + 1] as [number, number] } : {}),
        },
        y: { range: (_: uPlot, low: number, high: number) => padded(low, high, data.range) },
      },
      axes: [
        axis({ incrs: [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1_000, 2_000, 5_000, 10_000, 50_000] }),
        axis({ size: 52, values: (_: uPlot, at: number[]) => at.map((v) => number(v)) }),
      ],
      hooks: data.limit === undefined ? {} : { draw: [(u: uPlot) => drawLimit(u, data.limit!)] },
    };
    this.#draw(words, `lines ${data.lines.map((l) => l.label).join()} ${data.steps.length < 2} ${theme()}`, options, [
      data.steps,
      ...data.lines.map((l) => l.values),
    ]);
    this.#setLegend(data.lines.filter((l) => !l.edge));
    this.#setTable(() =>
      table(
        this.#caption,
        [
          { head: "step", number: true, cell: (i: number) => data.steps[i]! },
          ...data.lines.map((line) => ({
            head: line.label,
            number: true,
            cell: (i: number) => (line.format ?? number)(line.values[i] ?? null),
          })),
        ],
        data.steps
          .map((_, i) => i)
          .slice(-ROWS)
          .reverse(),
        "No step yet.",
      ),
    );
  }

  /** Bins of this step as bars, of the step before as an outline. */
  bars(words: string, labels: readonly string[], now: readonly number[], before: readonly number[] | undefined): void {
    const places = labels.map((_, i) => i);
    const bar = uPlot.paths.bars!({ size: [0.8, 64] });
    const options = {
      series: [
        {},
        {
          label: "this step",
          paths: bar,
          fill: color("--c1-soft"),
          stroke: color("--c1"),
          width: 1,
          points: { show: false },
        },
        {
          label: "the step before",
          paths: uPlot.paths.bars!({ size: [0.8, 64] }),
          stroke: color("--c2"),
          width: 2,
          points: { show: false },
        },
      ],
      scales: {
        // Half a bar more at either end, or the outer ones are cut.
        x: { time: false, range: [-0.6, labels.length - 0.4] as [number, number] },
        y: { range: (_: uPlot, __: number, high: number) => [0, Math.max(1, high * 1.08)] as [number, number] },
      },
      axes: [
        axis({
          splits: () => places,
          values: () => labels.slice(),
          grid: { show: false },
          space: 10,
          rotate: labels.length > 9 ? -45 : 0,
          size: labels.length > 9 ? 50 : 34,
        }),
        axis({ size: 52, values: (_: uPlot, at: number[]) => at.map((v) => (Number.isInteger(v) ? number(v) : "")) }),
      ],
    };
    // An empty bin has no bar, not one of no height with an outline.
    const drawn = (list: readonly number[] | undefined): (number | null)[] => places.map((i) => list?.[i] || null);
    const data = [places, drawn(now), drawn(before)];
    this.#draw(words, `bars ${labels.join()} ${theme()}`, options, data);
    this.#setLegend([
      { label: "this step", color: "--c1", values: [] },
      { label: "the step before (outline)", color: "--c2", values: [] },
    ]);
    const cells = [
      { head: "bin", cell: (i: number) => labels[i]! },
      { head: "this step", number: true, cell: (i: number) => now[i] ?? 0 },
      { head: "the step before", number: true, cell: (i: number) => before?.[i] ?? "–" },
    ];
    this.#setTable(() => table(this.#caption, cells, places, "No step yet."));
  }

  nothing(words: string): void {
    this.#words.textContent = words;
    this.#chart?.destroy();
    this.#chart = undefined;
    this.#shape = "";
    this.#legend.replaceChildren();
    this.#setTable(() => h("p", {}, words));
  }

  get #caption(): string {
    return this.element.querySelector("h3")?.textContent ?? "";
  }

  #size(): { width: number; height: number } {
    return { width: Math.max(120, this.#plot.clientWidth), height: HEIGHT };
  }

  /** Draws anew only when the shape changes; new numbers are set in place. */
  #draw(
    words: string,
    shape: string,
    options: Partial<uPlot.Options>,
    data: readonly (readonly (number | null)[])[],
  ): void {
    this.#words.textContent = words;
    const aligned = data as unknown as uPlot.AlignedData;
    if (this.#chart && this.#shape === shape) {
      this.#chart.setData(aligned);
      return;
    }
    this.#chart?.destroy();
    this.#plot.replaceChildren();
    this.#shape = shape;
    const fixed = { ...this.#size(), legend: { show: false }, cursor: { y: false, drag: { setScale: false } } };
    this.#chart = new uPlot({ ...fixed, ...options } as uPlot.Options, aligned, this.#plot);
  }

  #setLegend(lines: readonly Line[]): void {
    const shape = lines.map((l) => l.label + l.color).join();
    if (this.#legend.dataset.shape === shape) return;
    this.#legend.dataset.shape = shape;
    this.#legend.replaceChildren(
      ...lines.map((line) =>
        h(
          "li",
          {},
          h("span", { class: `key ${line.color.slice(2)}${line.dash ? " dash" : ""}`, "aria-hidden": "true" }),
          line.label,
        ),
      ),
    );
  }

  #setTable(fill: () => HTMLElement): void {
    this.#fill = fill;
    this.#fillTable();
  }
  /** A closed table costs nothing. */
  #fillTable(): void {
    if (this.#details.open) this.#table.replaceChildren(this.#fill());
  }
}
