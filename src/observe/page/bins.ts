/** `0`, `≤ 0.5` …, `> 100`: what each bin holds. */
export function binLabels(edges: readonly number[]): string[] {
  const labels = edges.map((edge, i) => (edge === 0 && i === 0 ? "0" : `≤${edge}`));
  return [...labels, `>${edges.at(-1) ?? 0}`];
}

/** Fewer bars than this look like a mistake. */
const LEAST = 8;

/** The range of bins worth showing: those that any of the lists uses, with one more at either end. */
export function usedBins(lists: readonly (readonly number[])[], bins: number): [from: number, to: number] {
  const used = Array.from({ length: bins }, (_, i) => lists.some((list) => (list[i] ?? 0) > 0));
  let from = Math.max(0, used.indexOf(true) - 1);
  let to = Math.min(bins, used.lastIndexOf(true) + 2);
  if (!used.includes(true)) [from, to] = [0, bins];
  while (to - from < Math.min(LEAST, bins)) {
    if (to < bins) to++;
    if (to - from < LEAST && from > 0) from--;
  }
  return [from, to];
}
