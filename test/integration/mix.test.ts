import type { Run } from "dataflex-mq";
import { describe, expect, test } from "vitest";
import { runKeys } from "../../src/redis/keys.js";
import { domainStep, mixBlock, shares, sharesOf } from "../helpers/domains.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { useSystem } from "../helpers/system.js";

const system = useSystem({ workers: [{ slots: 2 }] });
/** Two domains and no floor: the shares are 1 / (1 + e^gap) and the rest. Rewards travel as float32: seven digits. */
const GAP = mixBlock("reward_gap", {}, { floor: 0 });
const gap = (difference: number): number[] => {
  const math = 1 / (1 + Math.exp(difference));
  return [math, 1 - math];
};

function expectShares(have: readonly number[], want: readonly number[]): void {
  expect(have).toHaveLength(want.length);
  for (const [d, share] of want.entries()) expect(have[d], `share ${d} of ${have}`).toBeCloseTo(share, 7);
}
const stateKey = (run: Run, pipeline = "main") => runKeys(run.handle.run).state(pipeline);
const remembered = async (run: Run): Promise<string[]> =>
  (await system.redis.raw.hkeys(stateKey(run))).filter((field) => field !== "head" && field !== "rev").sort();

describe("proportions", () => {
  test("follow the means of all steps so far; what a result carries", async () => {
    const run = await system.mount(GAP);
    expect(run.handle.pipelines[0]?.scorer?.name).toBe("reward_difficulty");
    expectShares(await shares(run, 1, { math: [1, 0], code: [0, 0] }), gap(0.5));
    await run.put(2, "post_reward", domainStep({ math: [1, 1], code: [0, 1, 1, 1] }));
    const result = await run.weights(2);
    const mix = result.pipelines[0]!;
    expectShares(Object.values(mix.proportions!), gap(0.75 - 0.5));
    expect(mix.metrics).toMatchObject({ "rows/math": 2, "rows/code": 4, "mean/math": 1, "mean/code": 0.75 });
    expect(mix.weights).toHaveLength(0);
    expect(mix.score_stats?.n).toBe(6);
    expect(result.combined.weights).toHaveLength(0);
    const mask = [[1, 1]];
    expect([...result.rolloutIsWeights(mask)]).toEqual([1, 1]);
  });

  test("a static mixer needs no scorer, only the domain column", async () => {
    const run = await system.mount(mixBlock("static", {}, { proportions: [3, 1] }));
    expect(run.handle.stages).toEqual({ post_reward: [{ name: "domain" }] });
    expectShares(await shares(run, 1, { math: [1], code: [0] }), [0.75, 0.25]);
  });

  test("the column may have the dataset's name", async () => {
    const run = await system.mount({ ...GAP, domain_key: "data_source" });
    await run.put(1, "post_reward", domainStep({ math: [1], code: [0] }, "data_source"));
    expectShares(await sharesOf(run, 1), gap(1));
  });

  test("change every update_step after warmup_step; before it they are the prior", async () => {
    const run = await system.mount({ ...GAP, warmup_step: 2, update_step: 2, prior: [3, 1] });
    const step = (n: number) => shares(run, n, { math: [1], code: [n === 2 ? 0 : 0.5] });
    expectShares(await step(1), [0.75, 0.25]);
    const second = await step(2);
    expectShares(second, gap(1 - 0.25));
    expectShares(await step(3), second);
    expectShares(await step(4), gap(1 - 0.375));
  });

  test("a domain never seen keeps its prior share; an unknown one is named", async () => {
    const run = await system.mount({ ...GAP, domains: ["math", "code", "science"] });
    const [math, code, science] = await shares(run, 1, { math: [0.8], code: [0.6] });
    expect(science).toBeCloseTo(1 / 3);
    expect(code! / math!).toBeCloseTo(Math.exp(0.2), 6);
    const error = await rejection(shares(run, 2, { math: [1], chem: [1] }));
    expect(error.code).toBe("INVALID_INPUT");
    expect(error.message).toMatch(/row 1: domain "chem".*math, code, science/);
    expect(await remembered(run)).toEqual(["1.0"]);
  });

  test("a score that is not a number is refused, not averaged", async () => {
    const run = await system.mount(GAP);
    await shares(run, 1, { math: [0.8], code: [0.6] });
    expect((await rejection(shares(run, 2, { math: [Number.NaN, 1], code: [1] }))).code).toBe("NON_FINITE");
    expectShares(await shares(run, 3, { math: [0.8], code: [0.6] }), gap(0.2));
  });

  test("a slope mixer sees slopes, not levels", async () => {
    const run = await system.mount(mixBlock("tscl", {}, { temperature: 0.1, floor: 0 }));
    for (const [i, reward] of [0.1, 0.2, 0.3].entries()) await shares(run, i + 1, { math: [reward], code: [0.9] });
    const [math] = await shares(run, 4, { math: [0.4], code: [0.9] });
    expect(math).toBeCloseTo(0.731, 3);
  });

  test("a shadow measures and remembers, and delivers nothing", async () => {
    const run = await system.mount({
      pipelines: { seen: { ...GAP }, hidden: { ...GAP, shadow: true } },
    });
    await run.put(1, "post_reward", domainStep({ math: [1], code: [0] }));
    expect((await run.weights(1)).pipelines.map((p) => p.name)).toEqual(["seen"]);
    await eventually(() => system.redis.raw.hexists(stateKey(run, "hidden"), "1.0"));
  });
});

describe("each step counts once", () => {
  test("however often it is put", async () => {
    const run = await system.mount(GAP);
    const first = await shares(run, 1, { math: [1], code: [0] });
    expectShares(await shares(run, 1, { math: [1], code: [0] }), first);
    expect(Object.values((await run.mixState("main")).steps)).toHaveLength(1);
  });

  test("a replaced put replaces what the step said", async () => {
    const run = await system.mount(GAP);
    await shares(run, 1, { math: [1], code: [0] });
    await run.put(1, "post_reward", domainStep({ math: [0], code: [1] }), { replace: true });
    expectShares(await sharesOf(run, 1), gap(-1));
    expectShares(await shares(run, 2, { math: [0], code: [1] }), gap(-1));
  });

  test("a replacement that fails takes the first one's numbers away", async () => {
    const run = await system.mount(GAP);
    await shares(run, 1, { math: [1], code: [0] });
    await run.put(1, "post_reward", domainStep({ math: [Number.NaN], code: [1] }), { replace: true });
    await rejection(sharesOf(run, 1));
    expect(await remembered(run)).toEqual([]);
  });

  test("two steps in flight together both count, and so do two triggers of a step", async () => {
    const run = await system.mount(GAP);
    const put = (step: number, trigger: number, math: number) =>
      run.put(step, "post_reward", domainStep({ math: [math], code: [0] }), { trigger });
    await Promise.all([put(7, 0, 1), put(8, 0, 0.5), put(8, 1, 0)]);
    await Promise.all([run.weights(7), run.weights(8), run.weights(8, { trigger: 1 })]);
    expect(await remembered(run)).toEqual(["7.0", "8.0", "8.1"]);
    expectShares(await shares(run, 9, { math: [0.5], code: [0] }), gap(0.5));
  });

  test("what it said outlives the release of the step", async () => {
    const run = await system.mount(GAP);
    await shares(run, 1, { math: [1], code: [0] });
    expect(await run.release(1)).toBe("BURIED");
    expectShares(await shares(run, 2, { math: [1], code: [0.5] }), gap(0.75));
  });
});

describe("a trainer that begins again", () => {
  async function trained(steps: number, run_id: string, more: object = {}): Promise<Run> {
    const run = await system.mount({ ...GAP, ...more }, { run_id });
    for (let step = 1; step <= steps; step++) await shares(run, step, { math: [1], code: [0] });
    return run;
  }

  test("goes on where it was", async () => {
    await (await trained(2, "goes-on")).close();
    const again = await system.mount(GAP, { run_id: "goes-on" });
    expectShares(await shares(again, 3, { math: [1], code: [1] }), gap(1 - 1 / 3));
  });

  test("redoes steps: theirs replace the old ones, later old ones go", async () => {
    await (await trained(4, "redoes")).close();
    const again = await system.mount(GAP, { run_id: "redoes" });
    expectShares(await shares(again, 3, { math: [0], code: [1] }), gap(2 / 3 - 1 / 3));
    expect(await remembered(again)).toEqual(["1.0", "2.0", "3.0"]);
    expectShares(await shares(again, 2, { math: [0], code: [1] }), gap(1 / 2 - 1 / 2));
    expect(await remembered(again)).toEqual(["1.0", "2.0", "3.0"]);
  });

  test("with another scorer does not mix its numbers with the old ones", async () => {
    await (await trained(2, "other-scorer")).close();
    const scorer = { name: "reward_difficulty", params: { mask_reward: false } };
    const again = await system.mount({ ...GAP, scorer }, { run_id: "other-scorer" });
    await again.put(3, "post_reward", domainStep({ math: [0], code: [0] }));
    const mix = (await again.weights(3)).pipelines[0]!;
    expectShares(Object.values(mix.proportions!), gap(0));
    expect(mix.warnings.join()).toMatch(/another scorer/);
  });

  test("restores its checkpoint into an emptied Redis", async () => {
    const run = await trained(3, "restores");
    const saved = JSON.parse(JSON.stringify(await run.mixState("main")));
    await run.close();
    await system.redis.flush();
    const again = await system.mount(GAP, { run_id: "restores" });
    expect(await again.mixState("main")).toEqual({ v: 1, pipeline: "main", steps: {} });
    await again.restoreMixState("main", saved);
    expect(await again.mixState("main")).toEqual(saved);
    expectShares(await shares(again, 4, { math: [1], code: [1] }), gap(1 - 1 / 4));
  });

  test("an older checkpoint wins over what Redis remembers", async () => {
    const run = await trained(1, "older");
    const saved = await run.mixState("main");
    await shares(run, 2, { math: [0], code: [1] });
    await run.close();
    const again = await system.mount(GAP, { run_id: "older" });
    await again.restoreMixState("main", saved);
    expect(await remembered(again)).toEqual(["1.0"]);
  });

  test("a fenced trainer restores nothing", async () => {
    const old = await trained(1, "fenced");
    const saved = await old.mixState("main");
    await system.mount(GAP, { run_id: "fenced", takeover: true });
    expect((await rejection(old.restoreMixState("main", saved))).code).toBe("FENCED");
  });

  test("what cannot be restored says why", async () => {
    const run = await system.mount({ pipelines: { mix: GAP, fixed: mixBlock("static") } });
    expect((await rejection(run.mixState("other"))).message).toMatch(/no pipeline "other".*mix, fixed/);
    const broken = { v: 1, pipeline: "mix", steps: { "1.0": { inc: 1, by: "x", values: [["math", Number.NaN]] } } };
    expect((await rejection(run.restoreMixState("mix", broken as never))).message).toMatch(/step "1.0" cannot be read/);
    expect((await rejection(run.restoreMixState("mix", {} as never))).code).toBe("INVALID_INPUT");
  });
});
