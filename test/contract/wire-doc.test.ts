import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DTYPE_BYTES, DTYPES } from "../../src/columns/dtypes.js";
import { DEFAULT_LIMITS } from "../../src/columns/limits.js";
import { ENCODINGS, SCOPES } from "../../src/columns/tensor.js";

const text = readFileSync(new URL("../../docs/protocol.md", import.meta.url), "utf8");

/** The first cells of the table rows of a section. */
function rowsUnder(heading: string): string[][] {
  const start = text.indexOf(`${heading}\n`);
  expect(start, heading).toBeGreaterThan(0);
  const rest = text.slice(start + heading.length);
  const next = rest.search(/^#{2,3} /m);
  const section = next < 0 ? rest : rest.slice(0, next);
  return section
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) =>
      line
        .split("|")
        .map((cell) => cell.trim())
        .slice(1, -1),
    );
}
const codes = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);

describe("docs/protocol.md lists what the code has", () => {
  it("dtypes and their sizes", () => {
    const table = rowsUnder("### Dtypes").flatMap(([names, bytes]) => {
      const sizes = bytes!.split(",").map(Number);
      return codes(names!).map((name, i) => [name, sizes[i] ?? sizes[0]] as const);
    });
    expect(Object.fromEntries(table)).toEqual(DTYPE_BYTES);
    expect(table.length).toBe(DTYPES.length);
  });

  it("encodings and scopes", () => {
    expect(new Set(rowsUnder("## 3. Encodings").map(([enc]) => codes(enc!)[0]))).toEqual(new Set(ENCODINGS));
    const header = rowsUnder("### Column header");
    const meaning = (key: string): string => header.find(([name]) => name === `\`${key}\``)![2]!;
    expect(codes(meaning("enc"))).toEqual([...ENCODINGS]);
    expect(codes(meaning("scope"))).toEqual([...SCOPES]);
  });

  it("limits and their defaults", () => {
    const units: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };
    const table = rowsUnder("### Limits").map(([name, value]) => {
      const [number, unit] = value!.replaceAll(",", "").split(" ") as [string, string?];
      const amount = number.startsWith("2^") ? 2 ** Number(number.slice(2)) : Number(number);
      return [codes(name!)[0]!, amount * (unit === undefined ? 1 : units[unit]!)];
    });
    expect(Object.fromEntries(table)).toEqual(DEFAULT_LIMITS);
  });
});
