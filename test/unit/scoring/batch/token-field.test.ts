import { describe, expect, it } from "vitest";
import { ENCODE_AS } from "../../../../src/testing/encode-tokens.js";
import { fakeBatch } from "../../../../src/testing.js";

const fields = {
  values: [
    [1, -2, 3, 4],
    [5, 6],
    [7, 8, 9],
  ],
  response_mask: [
    [1, 0, 1, 1],
    [0, 0],
    [1, 1, 0],
  ],
};

describe.each(ENCODE_AS)("a field encoded %s", (encode) => {
  const field = () => fakeBatch(fields, { encode }).field("values");

  it("reduces over the mask; a row without tokens gives 0", () => {
    expect([...field().sum().values]).toEqual([8, 0, 15]);
    expect([...field().mean().values]).toEqual([8 / 3, 0, 7.5]);
    expect([...field().min().values]).toEqual([1, 0, 7]);
    expect([...field().max().values]).toEqual([4, 0, 8]);
    expect([...field().last().values]).toEqual([4, 0, 8]);
    expect([...field().count().values]).toEqual([3, 0, 2]);
  });

  it("chains every operation in one pass", () => {
    const rows = fakeBatch(fields).vector([10, 20, 30]);
    const chained = field().sub(2).abs().add(1).mul(field()).div(2).pow(2).clip(1, 400).add(rows);
    const plain = (x: number, row: number) => Math.min(Math.max((((Math.abs(x - 2) + 1) * x) / 2) ** 2, 1), 400) + row;
    expect([...chained.sum().values]).toEqual([
      plain(1, 10) + plain(3, 10) + plain(4, 10),
      0,
      plain(7, 30) + plain(8, 30),
    ]);
    expect([...field().exp().log().square().sum().values][0]).toBeCloseTo(1 + 9 + 16, 12);
    expect([
      ...field()
        .map((x, y) => x * 10 + y, field().mul(0))
        .last().values,
    ]).toEqual([40, 0, 80]);
  });
});

describe("scopes", () => {
  const rewards = {
    rm_scores: [
      [0, 0, 1],
      [0, 2],
    ],
    response_mask: [
      [1, 1, 0],
      [1, 1],
    ],
  };

  it.each(ENCODE_AS)("a response-scoped field reduces over either set, encoded %s", (encode) => {
    const field = fakeBatch(rewards, { encode }).field("rm_scores");
    expect([...field.sum().values]).toEqual([0, 2]);
    expect([...field.sum({ over: "response" }).values]).toEqual([1, 2]);
    expect([...field.last().values]).toEqual([0, 2]);
    expect([...field.last({ over: "response" }).values]).toEqual([1, 2]);
    expect([...field.count({ over: "response" }).values]).toEqual([3, 2]);
    expect([...field.nonzeroOutsideMask().values]).toEqual([1, 0]);
  });

  it("a mask-scoped field refuses over: response, and so does anything computed from one", () => {
    const batch = fakeBatch({
      ...rewards,
      advantages: [
        [1, 1, 1],
        [1, 1],
      ],
    });
    const refused = expect.objectContaining({ code: "COMPONENT", message: expect.stringContaining("scope") });
    expect(() => batch.field("advantages").sum({ over: "response" })).toThrow(refused);
    expect(() => batch.field("rm_scores").mul(batch.field("advantages")).sum({ over: "response" })).toThrow(refused);
  });

  it("reads the mask itself, over the mask and over the response", () => {
    const mask = fakeBatch(fields).field("response_mask");
    expect([...mask.sum().values]).toEqual([3, 0, 2]);
    expect([...mask.sum({ over: "response" }).values]).toEqual([3, 0, 2]);
    expect([...mask.mean({ over: "response" }).values]).toEqual([0.75, 0, 2 / 3]);
  });
});

describe("operands", () => {
  it("of another size are refused", () => {
    const one = fakeBatch({ values: [[1]] });
    const two = fakeBatch({ values: [[1], [2]] });
    const refused = expect.objectContaining({ code: "COMPONENT" });
    expect(() => one.field("values").add(two.field("values"))).toThrow(refused);
    expect(() => one.field("values").add(two.field("values").sum())).toThrow(refused);
  });

  it("may be a map that makes its own infinity, which shows in the result", () => {
    const field = fakeBatch({ values: [[0, 1]] })
      .field("values")
      .map((x) => 1 / x);
    expect([...field.max().values].every(Number.isFinite)).toBe(false);
    expect([...field.sum().values]).toEqual([Number.POSITIVE_INFINITY]);
  });
});
