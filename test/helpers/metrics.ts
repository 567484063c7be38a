/** A page of metrics as series → value; comments and what is not ours are left out. */
export function seriesOf(page: string): Map<string, number> {
  const ours = page.split("\n").filter((line) => line.startsWith("dataflex_"));
  return new Map(
    ours.map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

/** Every series of a page, ours or not, as its line. */
export function linesOf(page: string): string[] {
  return page.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

/** The value of the one series of `metric` that has these labels; undefined when there is none. */
export function valueIn(
  page: string,
  metric: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const found = [...seriesOf(page)].filter(
    ([name]) =>
      name.split("{", 1)[0] === metric && Object.entries(labels).every(([l, v]) => name.includes(`${l}="${v}"`)),
  );
  if (found.length > 1) throw new Error(`${found.length} series of ${metric} match ${JSON.stringify(labels)}`);
  return found[0]?.[1];
}

/** What of a page is ours, with its HELP and TYPE lines: what promtool is to lint. */
export function oursOf(page: string): string {
  return `${page
    .split("\n")
    .filter((line) => /^(# (HELP|TYPE) )?dataflex_/.test(line))
    .join("\n")}\n`;
}
