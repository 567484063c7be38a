import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { duplicateKey } from "../../../../src/commands/replay/lenient-json.js";
import { readNpy } from "../../../../src/commands/replay/npy.js";
import { readStep } from "../../../../src/commands/replay/read-input.js";
import { expectRefused, fileWith, rollouts } from "./helpers.js";

const line = { uid: "a", score: 1, response_length: 2 };
const json = (text: string) => readStep(fileWith("hostile.json", text));

describe("files that would give a wrong weight without a word", () => {
  test("a key twice in one object: JSON would take the last", async () => {
    await expectRefused(json('{"fields": {"a": [1]}, "fields": {"a": [2]}}'), /"fields" occurs twice/);
    await expectRefused(json('{"fields": {"a": [1], "b": [3], "\\u0061" : [2]}}'), /"a" occurs twice/);
    await expectRefused(
      readStep(rollouts("twice.jsonl", [line, '{"uid":"a","score":1,"score":0,"response_length":2}'])),
      /line 2: the key "score" occurs twice/,
    );
  });

  test("the same key in other objects, in strings and as a value is no duplicate", () => {
    expect(
      duplicateKey('{"a": {"a": 1}, "b": "a", "c": [{"a": 1}, {"a": 2}], "d": "{\\"a\\": 1, \\"a\\": 2}"}', 3),
    ).toBe(undefined);
  });

  test("finite numbers that float32 turns into Infinity", async () => {
    await expectRefused(json('{"fields": {"a": [[1, 2], [1e308, 0]]}}'), /a row 1, column 0 is 1e\+308, which float32/);
    await expectRefused(json('{"fields": {"a": [1, -1e39]}}'), /a row 1 is -1e\+39, which float32/);
    await expectRefused(readStep(rollouts("big.jsonl", [line, { ...line, score: 1e308 }])), /line 2: score is 1e\+308/);
  });

  test("a length that nothing could hold is refused before it is allocated", async () => {
    const long = rollouts("long.jsonl", [line, { ...line, response_length: 2 ** 31 - 1 }]);
    await expectRefused(readStep(long), /line 2: response_length is 2147483647, not a whole number of tokens up to/);
  });

  test("strings of no characters in numpy: a header of a few bytes asks for any number of rows", () => {
    const header = "{'descr': '<U0', 'fortran_order': False, 'shape': (900000000,), }\n";
    const bytes = Buffer.concat([
      Buffer.from("\x93NUMPY\x01\x00", "latin1"),
      Buffer.from([header.length, 0]),
      Buffer.from(header),
    ]);
    expect(() => readNpy("x.npz", "uid", bytes)).toThrow(/type <U0 cannot be read/);
  });

  test("a byte order mark is no part of the text", async () => {
    expect(await json('\ufeff{"fields": {"a": [1]}}')).toMatchObject({ rows: 1 });
    expect(await readStep(fileWith("bom.jsonl", `\ufeff${JSON.stringify(line)}\n`))).toMatchObject({ rows: 1 });
  });
});

describe("files that would cost much: an error within seconds", () => {
  const SOON_MS = 10_000;
  const MIB = 1 << 20;
  const soon = async (what: Promise<unknown>, ...parts: (string | RegExp)[]): Promise<void> => {
    const begun = performance.now();
    await expectRefused(what, ...parts);
    expect(performance.now() - begun).toBeLessThan(SOON_MS);
  };

  test("a pipe without a writer, devices without an end, a folder", async () => {
    const pipe = join(mkdtempSync(join(tmpdir(), "dfx-pipe-")), "step.json");
    spawnSync("sh", ["-c", 'mkfifo "$0"', pipe]);
    await soon(readStep(pipe), /a pipe or a device/);
    for (const device of ["/dev/zero", "/dev/tty0", "/dev/stdin"]) await soon(readStep(device));
    await soon(readStep("/dev"), /a folder/);
    rmSync(dirname(pipe), { recursive: true });
  });

  test("a link that leads to a device or in circles", async () => {
    const folder = mkdtempSync(join(tmpdir(), "dfx-link-"));
    symlinkSync("/dev/zero", join(folder, "zero.npz"));
    symlinkSync("loop.json", join(folder, "loop.json"));
    await soon(readStep(join(folder, "zero.npz")), /a pipe or a device/);
    await soon(readStep(join(folder, "loop.json")), /in circles/);
    rmSync(folder, { recursive: true });
  });

  test("more text than a string holds is not turned into one", async () => {
    const file = fileWith("huge.json", "");
    truncateSync(file, 2 ** 29);
    await soon(readStep(file), /536870912 bytes/);
    truncateSync(file, 2 ** 32);
    await soon(readStep(file), /4294967296 bytes/);
  });

  test.each([
    ["cut in a string", (n: number) => `{"uid": "${"x".repeat(n)}`],
    ["cut behind many quotes", (n: number) => `{"a": NaN, "b": "${'\\"'.repeat(n / 2)}`],
    ["many strings, the last one cut", (n: number) => `{"a": NaN, "b": [${'"q",'.repeat(n / 4)} "`],
    ["a string of escapes", (n: number) => `{"a": NaN, "b": "${"\\n".repeat(n / 2)}"`],
    ["brackets without an end", (n: number) => "[".repeat(n)],
    ["minus signs before no Infinity", (n: number) => `{"a": NaN${"-".repeat(n)}`],
  ])("12 MiB of JSON, %s", async (_, text) => {
    for (const name of ["cut.jsonl", "cut.json", "cut.txt"]) await soon(readStep(fileWith(name, text(12 * MIB))));
  });

  test("a string of 12 MiB beside a bare NaN is read", async () => {
    const step = await json(`{"fields": {"a": [NaN, 1]}, "uid": ["${"x".repeat(12 * MIB)}", "b"]}`);
    expect(step.rows).toBe(2);
    expect(duplicateKey(`{"${"\\\\".repeat(6 * MIB)}": 1, "a": "${"x".repeat(12 * MIB)}", "b": 2}`, 2)).toBe(undefined);
  });

  test("a value nested too deeply to be shown is still named", async () => {
    const deep = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;
    await soon(json(`{"fields": {"a": [1, ${deep}]}}`), /a row 1 is/);
  });

  test("a few megabytes that unpack to gigabytes", async () => {
    const name = Buffer.from("a.npy");
    const packed = deflateRawSync(Buffer.alloc(64 * MIB));
    const said = 2 ** 30 + 1;
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt16LE(name.length, 28);
    const archive = (size: number): Buffer => {
      entry.writeUInt32LE(size, 24);
      const end = Buffer.alloc(22);
      end.writeUInt32LE(0x06054b50, 0);
      end.writeUInt16LE(1, 10);
      end.writeUInt32LE(local.length + name.length + packed.length, 16);
      return Buffer.concat([local, name, packed, entry, name, end]);
    };
    await soon(readStep(fileWith("bomb.npz", archive(said))), /unpacked it has 1073741825 bytes/);
    // Longer than it says: inflating stops there.
    await soon(readStep(fileWith("liar.npz", archive(100))), /a.npy is damaged/);
  });

  test("rollouts of a few bytes that stand for billions of tokens", async () => {
    const lines = Array.from({ length: 100 }, () => ({ ...line, response_length: 1 << 20 }));
    await soon(readStep(rollouts("tokens.jsonl", lines)), /104857600 tokens/);
  });
});
