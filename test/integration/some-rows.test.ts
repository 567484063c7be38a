import { describe, expect, test } from "vitest";
import { rejection } from "../helpers/eventually.js";
import { useSystem } from "../helpers/system.js";

/** What rides along with the puts of some rows and not with those of others. */
const system = useSystem({ workers: [{ slots: 1 }] });
const STAGE = "post_reward";
const LENGTH = {
  mechanism: "select",
  scorer: { name: "truncated", params: { max_response_length: 4 } },
  actuator: { name: "threshold_band", params: { low: -1, high: 2 } },
} as const;
const mask = (rows: number) => ({ response_mask: Array.from({ length: rows }, () => [1, 1, 1, 0]) });
const padded = (rows: number) => ({
  response_mask: { data: Uint8Array.from(mask(rows).response_mask.flat()), shape: [rows, 4] },
});
const part = (start: number, stop: number, total: number) => ({ rows: [start, stop] as const, total_rows: total });

describe("lengths of some rows", () => {
  test("are a failure that names the others, whichever came first; of all rows they count", async () => {
    const run = await system.mount(LENGTH);
    await run.put(1, STAGE, padded(2), { ...part(0, 2, 4), lengths: [4, 3] });
    await run.put(1, STAGE, padded(2), part(2, 4, 4));
    await run.put(2, STAGE, padded(7), part(1, 8, 8));
    await run.put(2, STAGE, mask(1), part(0, 1, 8));
    await run.put(3, STAGE, padded(2), { ...part(0, 2, 4), lengths: [4, 3] });
    await run.put(3, STAGE, mask(2), part(2, 4, 4));
    expect(await rejection(run.weights(1))).toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("row(s) 2, 3 have no lengths"),
    });
    expect(await rejection(run.weights(2))).toMatchObject({
      message: expect.stringContaining("1, 2, 3, 4, 5 and 2 more"),
    });
    expect((await run.weights(3)).pipelines[0]!.score_stats?.mean).toBe(0.75);
  });

  test("need not be those of padding; rows of which nobody says so are no padding", async () => {
    const run = await system.mount(LENGTH);
    await run.put(1, STAGE, padded(2), { ...part(0, 2, 4), lengths: [4, 3] });
    await run.put(1, STAGE, padded(2), { ...part(2, 4, 4), is_padding: [true, true] });
    const result = await run.weights(1);
    expect(result.pipelines[0]!.kept).toEqual(Int32Array.of(0, 1));
    expect(result.pipelines[0]!.score_stats?.mean).toBe(0.5);
  });
});
