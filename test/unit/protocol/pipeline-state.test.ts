import { expect, test } from "vitest";
import type { PipelineSpec } from "../../../src/protocol/pipeline-spec.js";
import { stateOf } from "../../../src/protocol/pipeline-state.js";
import { pipelineSpec } from "../../../src/testing/run-component.js";

const scorer = { name: "reward_difficulty", params: { p: 1 } };
const spec = (more: Partial<PipelineSpec>): PipelineSpec => ({
  ...pipelineSpec(undefined, undefined),
  scorer,
  ...more,
});
const actuator = { name: "act", params: {} };

test("a mix pipeline owns its state; its scorer makes the numbers", () => {
  const state = { owner: "test", by: 'reward_difficulty {"p":1}', reads: true, keep: 20_000 };
  expect(stateOf(spec({ mechanism: "mix", actuator }))).toEqual(state);
  const { scorer: _, ...rest } = spec({ mechanism: "mix", actuator });
  expect(stateOf(rest)).toEqual({ ...state, by: "rows" });
});

test("a policy reads what its feeding pipeline adds", () => {
  const base = { by: "act", keep: 1_000 };
  const select = spec({ mechanism: "select", actuator, policy: { role: "select", fed_by: "_feed-test" } });
  expect(stateOf(select)).toEqual({ ...base, owner: "_feed-test", reads: true });
  const feed = spec({ name: "_feed-test", mechanism: "select", actuator, policy: { role: "feed" } });
  expect(stateOf(feed)).toEqual({ ...base, owner: "_feed-test", reads: false });
});

test("a selector owns its state where it remembers; other pipelines have none", () => {
  const by = 'act reward_difficulty {"p":1}';
  expect(stateOf(spec({ mechanism: "select", actuator, remembers: true }))).toEqual({
    owner: "test",
    by,
    reads: true,
    keep: 1_000,
  });
  expect(stateOf(spec({ mechanism: "select", actuator }))).toBeUndefined();
  expect(stateOf(spec({ mechanism: "reweight", actuator }))).toBeUndefined();
});
