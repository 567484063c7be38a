import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { exportFiles } from "../../../../src/commands/cli/export-files.js";
import { rejection } from "../../../helpers/eventually.js";

let folder = "";
let out = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dfx-export-"));
  out = join(folder, "out");
  mkdirSync(out);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ["a dangling link", (target: string) => target],
  [
    "a link to a file",
    (target: string) => {
      writeFileSync(target, "somebody's");
      return target;
    },
  ],
])("%s is no place to write to: refused, and with --force replaced, never followed", async (_, make) => {
  const target = join(folder, "elsewhere.yml");
  symlinkSync(make(target), join(out, "prometheus.yml"));
  const before = existsSync(target) ? readFileSync(target, "utf8") : undefined;
  expect((await rejection(exportFiles("alerts", out, false))).message).toMatch(/other contents.*prometheus\.yml/);
  await exportFiles("alerts", out, true);
  expect(existsSync(target) ? readFileSync(target, "utf8") : undefined).toBe(before);
  expect(lstatSync(join(out, "prometheus.yml")).isFile()).toBe(true);
});

test("a folder that is a link is not followed, even with --force", async () => {
  const target = join(folder, "elsewhere");
  mkdirSync(target);
  symlinkSync(target, join(out, "rules"));
  for (const force of [false, true])
    expect((await rejection(exportFiles("alerts", out, force))).message).toMatch(/rules is a link/);
  expect(existsSync(join(target, "dataflex.yml"))).toBe(false);
});

test("what is there, the same, is left alone", async () => {
  await exportFiles("alerts", out, false);
  const again = await exportFiles("alerts", out, false);
  expect(again.every(({ written }) => !written)).toBe(true);
});
