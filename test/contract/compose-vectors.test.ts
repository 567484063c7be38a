import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type ComposeVector, composeVector } from "../helpers/compose-format.js";

const FOLDER = new URL("../vectors/compose/", import.meta.url);
const vectors = readdirSync(FOLDER).map((file) => ({
  name: file.slice(0, -".json".length),
  vector: JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")) as ComposeVector,
}));
const named = (name: string) => vectors.find((v) => v.name === name)!.vector;

describe("the composition's golden vectors", () => {
  it.each(vectors)("$name", ({ vector }) => {
    const { composed: _, expanded: __, refused: ___, ...given } = vector;
    expect(composeVector(given)).toEqual(vector);
  });

  it("hold the numbers worked out by hand for fixture F", () => {
    const rounded = (vector: ComposeVector) =>
      (vector.composed as { rows: number[] }).rows.map((w) => Number(w.toFixed(5)));
    expect(rounded(named("select-times-softmax"))).toEqual([...Array(4).fill(1.00433), 0, 0, 0, 0]);
    expect(rounded(named("select-times-softmax-row"))).toEqual([2, 2, 2, 2, 0, 0, 0, 0]);
    expect(rounded(named("select-times-softmax-token"))).toEqual([...Array(4).fill(1.76923), 0, 0, 0, 0]);
  });
});
