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

/** What to do, with what is to be typed as such: a command, then three spaces and what to know of it; or a plain sentence. */
export function fixParts(fix: string): Child[] {
  if (!/^(dataflex-mq|redis-cli|npm|docker|sh) /.test(fix)) return [fix];
  const [command = "", ...more] = fix.split("   ");
  return [h("code", {}, command), ...(more.length > 0 ? [` ${more.join(" ").trim()}`] : [])];
}

/** A box that scrolls sideways where it must; the keyboard reaches it, so that it scrolls there too. */
export const scroller = (name: string, ...children: readonly Child[]): HTMLElement =>
  h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": name }, ...children);

/** Replaces what a box holds. The focus stays on the element with the same `data-key`, else on the box; nothing is replaced while it is pressed. */
export function refill(box: HTMLElement, child: HTMLElement): void {
  if (box.querySelector(":active")) return;
  const focused = document.activeElement;
  const key =
    focused instanceof HTMLElement && box !== focused && box.contains(focused) ? focused.dataset.key : undefined;
  box.replaceChildren(child);
  if (key === undefined) return;
  const again = box.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);
  (again ?? box).focus({ preventScroll: true });
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

/** A table of rows; `none` is shown where there are none. */
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
