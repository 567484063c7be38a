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

  /** Keys of an interface in order, `?` behind those that may be absent. */
  const keysOf = (file: string, name: string): string[] => {
    const source = readFileSync(new URL(`../../src/${file}`, import.meta.url), "utf8");
    const body = new RegExp(`export interface ${name} \\{\n([\\s\\S]*?)\n\\}`).exec(source)![1]!;
    return [...body.matchAll(/^ {2}readonly (\w+\??):/gm)].map(([, key]) => key!);
  };

  it.each([
    ["### Column header", "columns/tensor.ts", "ColumnHeader"],
    ["### Put header", "protocol/messages.ts", "PutHeader"],
    ["### Result header", "protocol/messages.ts", "ResultHeader"],
    ["### Failure header", "protocol/messages.ts", "FailureHeader"],
    ["### Release report", "protocol/statistics-messages.ts", "ReleaseReport"],
    ["### 5.3 Mounting", "protocol/mount-messages.ts", "MountRequest"],
    ["### 5.3 Mounting", "protocol/mount-messages.ts", "TrainerSettings"],
  ])("%s: the keys of %s, %s", (heading, file, name) => {
    const listed = new Set(rowsUnder(heading).flatMap(([cell]) => codes(cell!)));
    const own = keysOf(file, name);
    // A column header says in words which keys are absent when.
    const plain = (key: string): string => (name === "ColumnHeader" ? key.replace("?", "") : key);
    const others = heading === "### 5.3 Mounting" ? ["MountRequest", "TrainerSettings"] : [name];
    const all = others.flatMap((other) => keysOf(file, other)).map(plain);
    expect([own.map(plain).filter((key) => !listed.has(key)), [...listed].filter((key) => !all.includes(key))]).toEqual(
      [[], []],
    );
  });
});
