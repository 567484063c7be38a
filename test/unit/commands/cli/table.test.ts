import { describe, expect, it } from "vitest";
import { tableText } from "../../../../src/commands/cli/table.js";

const HEADS = ["run", "state", "step", "what happened"];
const rows = [
  [`qwen-${"x".repeat(95)}`, "trainer silent", "12", "NON_FINITE"],
  ["short", "live", "3", "-"],
];
const linesOf = (width?: number): string[] => tableText("runs", HEADS, rows, "none", width).trimEnd().split("\n");

describe("tables", () => {
  it("stand in columns as wide as their cells where there is no terminal", () => {
    const [title, head, long, short] = linesOf();
    expect(title).toBe("RUNS");
    expect(long).toContain(rows[0]![0]);
    expect(new Set([head!.indexOf("state"), long!.indexOf("trainer"), short!.indexOf("live")]).size).toBe(1);
  });

  it.each([60, 80, 120])("fit a terminal of %i columns, the widest cells cut and the others whole", (width) => {
    const lines = linesOf(width);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
    expect(lines[2]).toMatch(/qwen-x+… {2}trainer silent {2}12 {4}NON_FINITE$/);
  });

  it("keep the last column whole, and some characters of every other, however narrow the terminal is", () => {
    expect(linesOf(10)[2]).toBe("  qwen-xx…  trainer…  12    NON_FINITE");
  });

  it("say so where there are no rows", () => {
    expect(tableText("runs", HEADS, [], "no run is mounted", 20)).toBe("RUNS\n  no run is mounted\n");
  });
});
