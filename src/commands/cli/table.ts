/** A text from outside without control characters: it may hold escape sequences of terminals. */
export const plain = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, "?");

/** Cells are not cut below this. */
const SHORTEST = 8;
const GAP = 2;

/**
 * A titled table, its columns as wide as their cells. `width`: characters of the terminal; then the widest columns are cut until a line
 * fits. The last column is never cut: it holds the text that matters most, and may wrap. Control characters of names are taken out.
 */
export function tableText(
  title: string,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  none: string,
  width?: number,
): string {
  if (rows.length === 0) return `${title.toUpperCase()}\n  ${none}\n`;
  const table = [heads, ...rows].map((row) => row.map(plain));
  const widths = fitted(
    heads.map((_, i) => Math.max(...table.map((row) => row[i]?.length ?? 0))),
    width,
  );
  const last = heads.length - 1;
  const lines = table.map((row) => row.map((cell, i) => (i === last ? cell : cut(cell, widths[i]!))).join("  "));
  return `${title.toUpperCase()}\n${lines.map((line) => `  ${line}`).join("\n")}\n`;
}

function fitted(widths: readonly number[], width: number | undefined): number[] {
  const own = [...widths];
  if (width === undefined) return own;
  const before = own.slice(0, -1);
  const room = width - GAP * own.length - Math.min(own.at(-1)!, width / 4);
  const total = (): number => before.reduce((sum, n) => sum + n, 0);
  while (total() > room) {
    const widest = before.indexOf(Math.max(...before));
    if (before[widest]! <= SHORTEST) break;
    before[widest]!--;
  }
  return [...before, own.at(-1)!];
}

function cut(cell: string, width: number): string {
  return cell.length > width ? `${cell.slice(0, width - 1)}…` : cell.padEnd(width);
}
