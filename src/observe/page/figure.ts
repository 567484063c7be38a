import { h, scroller } from "./dom.js";
import uPlot from "./vendor/uplot.js";

export interface LegendItem {
  readonly label: string;
  /** Class of its key: a colour, or a shape. */
  readonly key: string;
}

/** Everything that a figure shows at one moment. */
export interface Drawing {
  /** What the chart says, in a sentence. */
  readonly words: string;
  /** Drawn anew when it changes; else the numbers are set in place. */
  readonly shape: string;
  readonly options: Partial<uPlot.Options>;
  readonly data: readonly (readonly (number | null)[])[];
  readonly legend: readonly LegendItem[];
  /** The same numbers for readers who cannot see the canvas. */
  readonly table: () => HTMLElement;
  /** In words, the values at a place of the x axis. */
  readonly at: (place: number) => string;
  /** Drawn over the lines. */
  readonly over?: (chart: uPlot) => void;
}

const HEIGHT = 190;

/** A chart with its title, what it says in words, its canvas, and the same numbers as a table. */
export class Figure {
  readonly element: HTMLElement;
  readonly title: string;
  readonly #words = h("p", { class: "words" });
  readonly #plot = h("div", { class: "plot", "aria-hidden": "true" });
  readonly #legend = h("ul", { class: "legend" });
  readonly #table: HTMLElement;
  readonly #details: HTMLDetailsElement;
  #chart: uPlot | undefined;
  #shape = "";
  #now: Drawing | undefined;

  constructor(id: string, title: string, about: string) {
    this.title = title;
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

  show(drawing: Drawing): void {
    this.#now = drawing;
    const data = drawing.data as unknown as uPlot.AlignedData;
    if (this.#chart && this.#shape === drawing.shape) this.#chart.setData(data);
    else this.#draw(drawing, data);
    this.#say(this.#chart?.cursor.idx);
    this.#setLegend(drawing.legend);
    this.#fillTable();
  }

  nothing(words: string): void {
    this.#now = undefined;
    this.#words.textContent = words;
    this.#chart?.destroy();
    this.#chart = undefined;
    this.#shape = "";
    this.#setLegend([]);
    this.#fillTable();
  }

  #draw({ options, shape }: Drawing, data: uPlot.AlignedData): void {
    this.#chart?.destroy();
    this.#plot.replaceChildren();
    this.#shape = shape;
    const own: Partial<uPlot.Options> = {
      ...this.#size(),
      legend: { show: false },
      cursor: { y: false, drag: { setScale: false } },
      hooks: {
        draw: [(chart) => this.#now?.over?.(chart)],
        setCursor: [(chart) => this.#say(chart.cursor.idx)],
      },
    };
    this.#chart = new uPlot({ ...own, ...options } as uPlot.Options, data, this.#plot);
  }

  /** Under the pointer one place's numbers, else what the whole chart says. */
  #say(place: number | null | undefined): void {
    const pointed = place !== null && place !== undefined && place < (this.#now?.data[0]?.length ?? 0);
    const text = pointed ? this.#now?.at(place) : this.#now?.words;
    if (text !== undefined && this.#words.textContent !== text) this.#words.textContent = text;
  }

  #size(): { width: number; height: number } {
    return { width: Math.max(120, this.#plot.clientWidth), height: HEIGHT };
  }

  #setLegend(items: readonly LegendItem[]): void {
    const shape = items.map((i) => i.label + i.key).join();
    if (this.#legend.dataset.shape === shape) return;
    this.#legend.dataset.shape = shape;
    const keyed = ({ label, key }: LegendItem): HTMLElement =>
      h("li", {}, h("span", { class: `key ${key}`, "aria-hidden": "true" }), label);
    this.#legend.replaceChildren(...items.map(keyed));
  }

  /** A closed table is not filled. */
  #fillTable(): void {
    if (!this.#details.open) return;
    this.#table.replaceChildren(this.#now?.table() ?? h("p", {}, this.#words.textContent));
  }
}
