import { expect, it } from "vitest";
import { mopps, posterior } from "../../../../../src/scoring/components/policies/mopps.js";
import { PromptHistory } from "../../../../../src/scoring/mix/prompt-history.js";
import { runPolicy } from "../../../../../src/testing.js";

/** Responses to prompts: how many of four were solved. */
const step = (solved: Readonly<Record<string, number>>) => {
  const rows = Object.entries(solved).flatMap(([key, n]) => [0, 1, 2, 3].map((i) => ({ key, reward: Number(i < n) })));
  return {
    dataset_key: rows.map(({ key }) => key),
    uid: rows.map(({ key }) => key),
    response_mask: rows.map(() => [1]),
    rm_scores: rows.map(({ reward }) => [reward]),
  };
};

it("counts successes and failures, and lets them fade", () => {
  const visit = (at: number, solved: number) => ({
    step: at,
    trigger: 0,
    values: [["p", 4, solved, 0, 1, solved] as const],
  });
  const history = new PromptHistory([visit(1, 0.75), visit(2, 0)]);
  const prior = { decay: 0.5, prior_alpha: 1, prior_beta: 1 };
  expect(posterior(history, "p", prior)).toEqual({ alpha: 2.5, beta: 5.5 });
  expect(posterior(history, "p", { ...prior, decay: 1 })).toEqual({ alpha: 4, beta: 6 });
  expect(posterior(history, "p", { ...prior, decay: 0 })).toEqual({ alpha: 1, beta: 5 });
  expect(posterior(history, "never", prior)).toEqual({ alpha: 1, beta: 1 });
});

it("comes to keep the prompts that are solved about as often as wanted", async () => {
  const fed = Array.from({ length: 30 }, () => step({ easy: 4, middling: 2, hard: 0 }));
  const keys = { dataset_key: ["easy", "middling", "hard"] };
  const half = await runPolicy(mopps, fed, keys, { batch_size: 1 });
  expect([...half.kept]).toEqual([1]);
  expect([...(await runPolicy(mopps, fed, keys, { batch_size: 1, target: 1 })).kept]).toEqual([0]);
  expect([...(await runPolicy(mopps, fed, keys, { batch_size: 2, target: 0 })).kept]).toEqual([1, 2]);
});

it("explores: of prompts never seen, other ones at other steps", async () => {
  const keys = { dataset_key: ["a", "b", "c", "d"] };
  const at = async (n: number) => (await runPolicy(mopps, [], keys, { batch_size: 1 }, { step: n })).kept[0]!;
  const seen = new Set(await Promise.all(Array.from({ length: 60 }, (_, n) => at(n + 1))));
  expect([...seen].sort()).toEqual([0, 1, 2, 3]);
  expect(await at(5)).toBe(await at(5));
});

it("keeps all where there are no more than wanted", async () => {
  expect([...(await runPolicy(mopps, [], { dataset_key: ["a", "b"] }, { batch_size: 9 })).kept]).toEqual([0, 1]);
});
