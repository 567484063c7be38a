type Child = Node | string | number | undefined | false;
type Props = Readonly<Record<string, string | number | boolean | undefined | ((event: Event) => void)>>;

/** An element. Texts become text nodes, never markup: names of runs and errors come from outside. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  for (const child of children)
    if (child !== undefined && child !== false)
      element.append(String(child) === child || typeof child === "number" ? String(child) : (child as Node));
  return element;
}

export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/** Changes a text only where it differs, so that screen readers do not read it again. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export interface ColumnSpec<Row> {
  readonly head: string;
  readonly cell: (row: Row) => Child;
  readonly number?: boolean;
}

/** A table of rows; `none` stands where there are none. */
export function table<Row>(
  caption: string,
  columns: readonly ColumnSpec<Row>[],
  rows: readonly Row[],
  none: string,
): HTMLElement {
  if (rows.length === 0) return h("p", { class: "muted" }, none);
  const heads = columns.map((c) => h("th", { scope: "col", class: c.number ? "number" : undefined }, c.head));
  const body = rows.map((row) =>
    h("tr", {}, ...columns.map((c) => h("td", { class: c.number ? "number" : undefined }, c.cell(row)))),
  );
  return h(
    "table",
    {},
    h("caption", { class: "hidden" }, caption),
    h("thead", {}, h("tr", {}, ...heads)),
    h("tbody", {}, ...body),
  );
}
