import type { Tensor2D } from "@tensorflow/tfjs-core";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Column } from "../../../../src/columns/tensor.js";
import { createBatch } from "../../../../src/scoring/batch/batch.js";
import { loadTensors, setBackend, type Tf } from "../../../../src/scoring/batch/tensor-backend.js";
import type { Scorer } from "../../../../src/scoring/components/component-types.js";
import { defineReweighter, defineScorer } from "../../../../src/scoring/components/define.js";
import { softmax } from "../../../../src/scoring/components/reweighters/softmax.js";
import { advantageMagnitude } from "../../../../src/scoring/components/scorers/advantage-magnitude.js";
import { checkComponent, fakeBatch, run } from "../../../../src/testing.js";
import { batchF } from "../../../helpers/batch-f.js";
import { expectClose } from "../../../helpers/close.js";

const none = z.strictObject({});
const scorerOf = (name: string, score: Scorer["score"], granularity: "response" | "token" = "response") =>
  defineScorer({
    name,
    requires: ["advantages", "response_mask"],
    timing: "post_advantage",
    granularity,
    rows: "independent",
    params: none,
    score,
  });

/** |A| summed and divided by the number of tokens, all on the device. */
const onDevice = scorerOf("on_device", (batch) => {
  const { tf } = batch;
  const total = tf.sum(tf.abs(batch.tensor("advantages")), 1);
  return tf.div(total, tf.maximum(tf.sum(batch.tensor("response_mask"), 1), 1));
});
const onDeviceLater = scorerOf("on_device_later", async (batch) => {
  const { tf } = batch;
  const size = tf.abs(batch.tensor("advantages"));
  const total = tf.sum(size, 1);
  await total.data();
  size.dispose();
  const count = tf.sum(batch.tensor("response_mask"), 1);
  const mean = tf.div(total, count);
  total.dispose();
  count.dispose();
  return mean;
});

describe("on cpu", () => {
  let tf: Tf;
  beforeAll(async () => {
    tf = await loadTensors();
  });

  it("runs on that backend", () => {
    expect(tf.getBackend()).toBe("cpu");
  });

  it.each([
    ["sum", 0.7],
    ["mean", 0.1],
  ])("%ss a whole large matrix exactly, as float32 accumulation does not", async (how, value) => {
    const [rows, width] = [1024, 4096];
    const lengths = new Int32Array(rows).fill(width);
    const response_mask = { kind: "lengths", dtype: "bool", scope: "response", rows, width, lengths } as const;
    const values = new Float32Array(rows * width).fill(value);
    const advantages = { kind: "dense", dtype: "f32", scope: "mask", rows, width, values } as const;
    const columns = new Map<string, Column>([
      ["advantages", advantages],
      ["response_mask", response_mask],
    ]);
    const batch = createBatch({ layout: { rows, width, mask: response_mask }, columns });
    const whole = scorerOf("whole", (shown) => {
      const [a, m] = [shown.tensor("advantages"), shown.tensor("response_mask")];
      const mean = how === "sum" ? shown.tf.div(shown.tf.sum(a), shown.tf.sum(m)) : shown.tf.mean(a);
      return new Float64Array(rows).fill(mean.dataSync()[0]!);
    });
    const [mean] = (await run(whole, batch)) as number[];
    expect(Math.abs(mean! - value)).toBeLessThan(1e-6);
  });

  it.each([onDevice, onDeviceLater])("gives what the fused loop gives: $name", async (scorer) => {
    const want = (await run(advantageMagnitude, batchF())) as number[];
    expectClose((await run(scorer, batchF())) as number[], want);
    const outcome = await run([scorer, softmax], batchF());
    expectClose(
      outcome.weights.values,
      [1.004326, 1.004326, 1.004326, 1.004326, 0.696485, 0.696485, 0.696485, 1.89324],
      2e-6,
    );
    expect(outcome.warnings).toEqual([]);
  });

  it.each([onDevice, onDeviceLater])(
    "leaves no tensor behind, also with jobs in flight at once: $name",
    async (scorer) => {
      await run(scorer, batchF());
      const before = tf.memory().numTensors;
      await Promise.all(Array.from({ length: 5 }, () => run(scorer, batchF())));
      expect(tf.memory().numTensors).toBe(before);
    },
  );

  it("leaves no tensor behind when the component throws, synchronously or not", async () => {
    const throwing = scorerOf("throwing", (batch) => {
      batch.tf.add(batch.tensor("advantages"), 1);
      throw new Error("after a tensor");
    });
    const throwingLater = scorerOf("throwing_later", async (batch) => {
      batch.tf.add(batch.tensor("advantages"), 1);
      await Promise.resolve();
      throw new Error("after a tensor");
    });
    const before = tf.memory().numTensors;
    for (let k = 0; k < 50; k++) {
      await expect(run(throwing, batchF())).rejects.toMatchObject({ code: "COMPONENT" });
      await expect(run(throwingLater, batchF())).rejects.toMatchObject({ code: "COMPONENT" });
    }
    expect(tf.memory().numTensors).toBe(before);
  });

  it.each<[string, Scorer]>([
    [
      "an asynchronous component that does not dispose",
      scorerOf("leaky", async (batch) => {
        const size = batch.tf.abs(batch.tensor("advantages"));
        return batch.tf.sum(size, 1);
      }),
    ],
    [
      "a synchronous component that keeps a tensor",
      scorerOf("keeping", (batch) => {
        batch.tf.keep(batch.tf.scalar(1));
        return batch.tf.sum(batch.tensor("advantages"), 1);
      }),
    ],
  ])("disposes and warns about what is left by %s", async (_what, scorer) => {
    const before = tf.memory().numTensors;
    const positive = defineReweighter({
      name: "positive",
      accepts: "row",
      params: none,
      act: (scores) => scores.abs(),
    });
    const outcome = await run([scorer, positive], batchF());
    expect(tf.memory().numTensors).toBe(before);
    expect(outcome.warnings).toEqual([expect.stringContaining("left tensors behind")]);
    expect(outcome.metrics.leaked_tensors).toBe(1);
    await expect(checkComponent(scorer)).rejects.toThrow(/tensors were left behind/);
  });

  it("passes the property suite", async () => {
    await checkComponent(onDevice);
    await checkComponent(onDeviceLater);
  });

  it("hands out zeros outside the scope and in rows that do not count", async () => {
    let seen: number[] = [];
    const look = scorerOf("look", (batch) => {
      const tensor = batch.tensor("advantages");
      expect(tensor.shape).toEqual([3, 3]);
      seen = [...tensor.dataSync()];
      return new Float64Array(batch.rows);
    });
    const advantages = [
      [1, Number.NaN, 3],
      [4, 5, 6],
      [7, 7, 7],
    ];
    const response_mask = [
      [1, 0, 1],
      [1, 1, 0],
      [1, 1, 1],
    ];
    const batch = fakeBatch({ advantages, response_mask }, { encode: "dense", is_padding: [false, false, true] });
    await run(look, batch);
    expect(seen).toEqual([1, 0, 3, 4, 5, 0, 0, 0, 0]);
  });

  it("gives integers as floats, so that a division is one", async () => {
    const ratio = scorerOf("ratio", (batch) => {
      const mask = batch.tensor("response_mask");
      expect(mask.dtype).toBe("float32");
      return batch.tf.div(batch.tf.sum(mask, 1), 2);
    });
    expect(
      await run(
        ratio,
        fakeBatch({
          advantages: [
            [1, 1],
            [1, 1],
          ],
          response_mask: [
            [1, 0],
            [1, 1],
          ],
        }),
      ),
    ).toEqual([0.5, 1]);
  });

  it("does not share memory with the payload", async () => {
    const values = Float32Array.from([1, 2]);
    const column = { kind: "dense", dtype: "f32", scope: "mask", rows: 1, width: 2, values } as const;
    const mask = {
      kind: "lengths",
      dtype: "bool",
      scope: "response",
      rows: 1,
      width: 2,
      lengths: Int32Array.from([2]),
    } as const;
    const batch = createBatch({ layout: { rows: 1, width: 2, mask }, columns: new Map([["advantages", column]]) });
    const spoiling = scorerOf("spoiling", (shown) => {
      const tensor = shown.tensor("advantages");
      values[0] = 99; // as the next message would overwrite a reused buffer
      const read = tensor.dataSync();
      const sum = read[0]! + read[1]!;
      read[1] = 77;
      return [sum];
    });
    // The first call of a component that wants tensors is cut short at the first tensor.
    values[0] = 1;
    expect(await run(spoiling, batch)).toEqual([3]);
    expect(values[1]).toBe(2);
  });

  it("finds what is not finite on the host, before a device can hide it", async () => {
    const clipping = scorerOf("clipping", (batch) =>
      batch.tf.sum(batch.tf.clipByValue(batch.tensor("advantages"), 0.5, 2), 1),
    );
    const batch = fakeBatch({ advantages: [[Number.NaN, 5, -5]] });
    await expect(run(clipping, batch)).rejects.toMatchObject({
      code: "NON_FINITE",
      message: expect.stringContaining("field 'advantages' is NaN at row 0, column 0"),
    });
  });

  it("finds a non-finite score that comes back from the device", async () => {
    const dividing = scorerOf("dividing", (batch) => batch.tf.div(1, batch.tf.sum(batch.tensor("advantages"), 1)));
    await expect(run(dividing, fakeBatch({ advantages: [[1], [0]] }))).rejects.toMatchObject({
      code: "NON_FINITE",
      details: { row: 1 },
    });
  });

  it("takes a token-shaped tensor", async () => {
    const doubled = scorerOf("doubled", (batch) => batch.tf.mul(batch.tensor("advantages"), 2), "token");
    const batch = fakeBatch({
      advantages: [
        [1, 9, 3],
        [4, 5],
      ],
      response_mask: [
        [1, 0, 1],
        [1, 1],
      ],
    });
    expect(await run(doubled, batch)).toEqual([
      [2, 6],
      [8, 10],
    ]);
  });

  it("never asks a backend to reduce over nothing", async () => {
    const batch = fakeBatch({ advantages: [[1, 2]], response_mask: [[0, 0]] });
    const outcome = await run([onDevice, softmax], batch);
    expect([...outcome.weights.values]).toEqual([0]);
    expect(outcome.flags).toEqual(["no_live_rows"]);
  });

  it("does not drift on a large constant matrix: our own sums are float64 on the host", async () => {
    const rows = 64;
    const width = 8192;
    const base = { dtype: "f32", scope: "mask", rows, width } as const;
    const lengths = new Int32Array(rows).fill(width);
    const mask = { kind: "lengths", dtype: "bool", scope: "response", rows, width, lengths } as const;
    const values = new Float32Array(rows * width).fill(0.7);
    const batch = createBatch({
      layout: { rows, width, mask },
      columns: new Map([["advantages", { ...base, kind: "dense", values }]]),
    });
    const [mean] = (await run(advantageMagnitude, batch)) as number[];
    expect(Math.abs(mean! - 0.7) / 0.7).toBeLessThan(1e-5);
    const total = batch
      .field("advantages")
      .mul(-1.7 / 0.7)
      .sum().values[0]!;
    expect(Math.abs(total / (8192 * -1.7) - 1)).toBeLessThan(1e-5);
  });
});

it("says which operation a backend lacks", async () => {
  const lacking = scorerOf(
    "lacking",
    (batch) => batch.tf.engine().runKernel("Sinc", { x: batch.tensor("advantages") }) as Tensor2D,
  );
  await expect(run(lacking, fakeBatch({ advantages: [[1], [2]] }))).rejects.toMatchObject({
    code: "COMPONENT",
    message: expect.stringMatching(/Sinc.*cpu.*--backend/),
  });
});

it("says why a backend does not start, and can be given another", async () => {
  setBackend({ name: "absent", load: () => Promise.reject(new Error("no such package")) });
  try {
    await expect(run(onDevice, batchF())).rejects.toMatchObject({
      code: "BACKEND",
      message: expect.stringMatching(/absent.*no such package/),
    });
  } finally {
    setBackend("cpu");
  }
  expect(await run(onDevice, fakeBatch({ advantages: [[-2, 4]] }))).toEqual([3]);
});
