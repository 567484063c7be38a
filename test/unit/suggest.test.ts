import { describe, expect, it } from "vitest";
import { didYouMean, editDistance, listNames, nearest } from "../../src/suggest.js";

describe("editDistance", () => {
  it.each([
    ["temprature", "temperature", 1],
    ["grop", "gpro", 2],
    ["ab", "ba", 1],
    ["", "abc", 3],
    ["same", "same", 0],
    ["kitten", "sitting", 3],
  ])("%s → %s takes %i edits", (a, b, edits) => {
    expect(editDistance(a, b)).toBe(edits);
    expect(editDistance(b, a)).toBe(edits);
  });
});

describe("nearest", () => {
  const names = ["softmax", "threshold_band", "topk_fraction", "gfpo"];
  it("finds a slip, whatever the case", () => {
    expect(nearest("softmx", names)).toEqual(["softmax"]);
    expect(nearest("SoftMax", names)).toEqual(["softmax"]);
    expect(nearest("treshold_bnad", names)).toEqual(["threshold_band"]);
  });
  it("offers nothing for an unrelated, empty or overlong name", () => {
    expect(nearest("banana", names)).toEqual([]);
    expect(nearest("", names)).toEqual([]);
    expect(nearest("s".repeat(1e6), names)).toEqual([]);
  });
  it("never offers what shares no letter with a short name", () => {
    expect(nearest("k", ["a", "b"])).toEqual([]);
  });
  it("offers only the nearest, by name, three at most", () => {
    expect(nearest("alpha", ["alphas", "alpha", "zzz"])).toEqual(["alpha"]);
    expect(nearest("alpha", ["alphas", "alpna", "alpha1", "alph", "al"])).toEqual(["alph", "alpha1", "alphas"]);
  });
});

it("didYouMean joins names, or says nothing", () => {
  expect(didYouMean("aplha", ["alpha"])).toBe('did you mean "alpha"?');
  expect(didYouMean("zzzz", ["alpha"])).toBeUndefined();
});

it("listNames cuts a long list and says where the rest is", () => {
  const many = Array.from({ length: 15 }, (_, i) => `n${i}`);
  expect(listNames(many)).toMatch(/n11 and 3 more \(dataflex-mq components\)$/);
  expect(listNames([])).toBe("none");
});
