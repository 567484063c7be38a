import { expect, test } from "vitest";
import { KeptPuts } from "../../../src/client/kept-puts.js";
import type { PreparedPut } from "../../../src/client/prepare.js";

function put(id: string, bytes: number): PreparedPut {
  const header = {
    v: 2,
    id,
    hash: "00",
    stage: "post_advantage",
    total_rows: 0,
    rows: [],
    columns: [],
    bytes,
  } as const;
  return {
    header: { ...header, chunks: 1, chunk_bytes: bytes },
    headerBytes: new Uint8Array(),
    chunks: [new Uint8Array(bytes)],
    fields: [],
    bitmap: new Uint8Array(),
    layout: { rows: 0, width: 0 },
    ranges: [],
  };
}

const ids = (puts: KeptPuts, ...steps: string[]) =>
  steps.map((step) => puts.of(step).map((kept) => kept.put.header.id));

test("settled steps go first, then the oldest, and never the one at hand", () => {
  const puts = new KeptPuts(100);
  for (const step of ["1", "2", "3"]) puts.keep(step, put("a", 30), undefined, 1);
  puts.settled("2", true);
  puts.keep("4", put("a", 30), undefined, 1);
  expect(ids(puts, "1", "2", "3", "4")).toEqual([["a"], [], ["a"], ["a"]]);
  puts.keep("4", put("b", 30), undefined, 1);
  expect(ids(puts, "1", "3", "4")).toEqual([[], ["a"], ["a", "b"]]);
  puts.keep("5", put("a", 500), undefined, 1);
  expect(ids(puts, "3", "4", "5")).toEqual([[], [], ["a"]]);
  expect(puts.dropped).toBe(5);
});

test("a put made again takes the place of its copy, counts once, and is not dropped for the older one", () => {
  const puts = new KeptPuts(100);
  puts.keep("1", put("a", 60), undefined, 1);
  const [first] = puts.of("1");
  puts.keep("1", put("a", 70), undefined, 2);
  puts.keep("2", put("a", 30), undefined, 1);
  expect(puts.dropped).toBe(0);
  puts.drop("1", first!);
  expect(puts.of("1").map((kept) => kept.attempt)).toEqual([2]);
  puts.forget("1");
  expect(puts.of("1")).toEqual([]);
});
