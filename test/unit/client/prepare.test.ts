import { expect, test } from "vitest";
import { preparePut } from "../../../src/client/prepare.js";
import { toFieldValues } from "../../../src/columns/input.js";
import { DEFAULT_LIMITS } from "../../../src/columns/limits.js";
import type { Handle } from "../../../src/protocol/messages.js";
import { thrown } from "../columns/thrown.js";

const prepare = (limits: Partial<Handle["limits"]>) => {
  const needs = [{ name: "rm_scores", scope: "response" }, { name: "uid" }] as const;
  const handle = { v: 1, limits: { ...DEFAULT_LIMITS, ...limits }, stages: { post_reward: needs } };
  const fields = toFieldValues({ rm_scores: [[1, 2, 3], [4]], uid: ["long", "b"] });
  return preparePut(handle as unknown as Handle, { stage: "post_reward", fields, total_rows: 2, ranges: [0, 2] });
};

test.each([{ max_rows: 1 }, { max_width: 2 }, { max_string_bytes: 3 }, { max_put_bytes: 8 }])(
  "a put beyond the handle's limits is refused before anything is sent: %j",
  (limits) => {
    expect(thrown(() => prepare(limits)).code).toBe("LIMIT");
  },
);

test("a put within them is prepared", () => {
  const { header, fields } = prepare({ max_rows: 2, max_width: 3, max_string_bytes: 4, max_put_bytes: 200 });
  expect(fields).toEqual(["rm_scores", "uid"]);
  expect(header.columns.map(({ name }) => name)).toEqual(["rm_scores", "uid"]);
});
