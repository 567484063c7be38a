import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readStep } from "../../../../src/commands/replay/read-input.js";
import { expectRefused, fileWith } from "./helpers.js";

const fixture = (name: string): string => new URL(`../../../fixtures/replay/${name}`, import.meta.url).pathname;

describe("what numpy wrote (test/fixtures/replay/make.py)", () => {
  test.each(["stored.npz", "deflated.npz"])("%s: every dtype, both orders, strings, scalars", async (name) => {
    const step = await readStep(fixture(name));
    expect(step).toEqual({
      step: 12,
      rows: 2,
      adv_estimator: "grpo",
      uid: ["grün", "a"],
      lengths: Int32Array.of(3, 2),
      is_padding: Uint8Array.of(0, 1),
      fields: {
        rm_scores: { kind: "tensor", dtype: "f32", shape: [2, 3], data: Float32Array.of(0, 0, 1, 0, 0.5, 0) },
        response_mask: { kind: "tensor", dtype: "i64", shape: [2, 3], data: BigInt64Array.of(1n, 1n, 1n, 1n, 1n, 0n) },
        old_log_probs: {
          kind: "tensor",
          dtype: "f64",
          shape: [2, 3],
          data: Float64Array.of(-0.5, -1, -2, -3, Number.NaN, 0),
        },
        entropy: {
          kind: "tensor",
          dtype: "f16",
          shape: [2, 3],
          data: Uint16Array.of(0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600),
        },
        advantages: { kind: "tensor", dtype: "i8", shape: [2, 3], data: Int8Array.of(1, -1, 0, 0, 1, -1) },
        values: { kind: "tensor", dtype: "u8", shape: [2, 3], data: Uint8Array.of(1, 2, 3, 4, 5, 255) },
        row_score: { kind: "tensor", dtype: "i32", shape: [2], data: Int32Array.of(7, -7) },
        flags: { kind: "tensor", dtype: "bool", shape: [2, 3], data: Uint8Array.of(1, 0, 1, 0, 1, 0) },
      },
    });
  });

  test("the name does not matter, the content does", async () => {
    const copy = fileWith("step.recorded", readFileSync(fixture("stored.npz")));
    expect((await readStep(copy)).step).toBe(12);
  });
});

describe("what is refused", () => {
  test("pickled objects, with what to do instead", async () => {
    await expectRefused(
      readStep(fixture("objects.npz")),
      /array rm_scores: it holds Python objects, which are stored as code; save/,
    );
  });

  test("types that have no meaning here, and big-endian numbers", async () => {
    await expectRefused(readStep(fixture("complex.npz")), /type <c16 cannot be read; use one of f2, f4/);
    await expectRefused(readStep(fixture("big-endian.npz")), /big-endian \(>f4\); save it with '<f4'/);
  });

  test("ids that are floats: two of them may have become one", async () => {
    await expectRefused(
      readStep(fixture("float-ids.npz")),
      /array uid holds f64 numbers; save ids as strings or integers/,
    );
  });

  const stored = readFileSync(fixture("stored.npz"));
  const deflated = readFileSync(fixture("deflated.npz"));

  test("a file that is no archive, or is cut off", async () => {
    await expectRefused(
      readStep(fileWith("a.npz", "nothing of the kind")),
      /not a usable zip archive: its end record is missing/,
    );
    await expectRefused(
      readStep(fileWith("b.npz", stored.subarray(0, stored.length - 30))),
      /its end record is missing/,
    );
    await expectRefused(readStep(fileWith("c.npz", stored.subarray(200))), /not a usable zip archive|numpy/);
  });

  test("any damaged byte of the data is noticed by its checksum", async () => {
    for (const [bytes, at] of [
      [stored, stored.indexOf("NUMPY") + 130],
      [deflated, deflated.indexOf("rm_scores.npy") + 60],
    ] as const) {
      const damaged = Buffer.from(bytes);
      damaged[at]! ^= 0x55;
      await expectRefused(readStep(fileWith("d.npz", damaged)), /is damaged/);
    }
  });

  const nextEntry = (bytes: Buffer, from = 0): number => bytes.indexOf(Buffer.from([0x50, 0x4b, 1, 2]), from);

  test("entries that share bytes: a small archive could hold terabytes", async () => {
    for (const bytes of [stored, deflated]) {
      const bomb = Buffer.from(bytes);
      const first = nextEntry(bomb);
      const second = nextEntry(bomb, first + 4);
      // The second entry gets the first one's checksum, sizes and place: each alone is sound.
      bomb.copy(bomb, second + 16, first + 16, first + 28);
      bomb.copy(bomb, second + 42, first + 42, first + 46);
      await expectRefused(readStep(fileWith("bomb.npz", bomb)), /not a usable zip archive: .+ overlaps another file/);
    }
  });

  test("more bytes together than a step may have, before anything is inflated", async () => {
    const bomb = Buffer.from(deflated);
    const first = nextEntry(bomb);
    for (const at of [first, nextEntry(bomb, first + 4)]) bomb.writeUInt32LE(3 * 1024 ** 3, at + 24);
    await expectRefused(readStep(fileWith("large.npz", bomb)), /unpacked it has \d+ bytes, more than the 1073741824/);
  });

  test("an entry that claims another size than it holds is not inflated past it", async () => {
    const lying = Buffer.from(deflated);
    const directory = lying.indexOf(Buffer.from([0x50, 0x4b, 1, 2]));
    lying.writeUInt32LE(10, directory + 24);
    await expectRefused(readStep(fileWith("e.npz", lying)), /is damaged/);
  });
});
