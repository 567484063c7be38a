import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { inputError } from "./input-error.js";
import { parseLenientJson } from "./lenient-json.js";
import { isObject, readJson } from "./read-json.js";
import { readNpz } from "./read-npz.js";
import { readRollouts } from "./read-rollouts.js";
import type { RecordedStep } from "./recorded-step.js";

/**
 * Reads a recorded step from a file: `.json` one object, `.npz` numpy arrays, `.jsonl` rollouts; any other name is read by what
 * it holds.
 *
 * @throws INVALID_INPUT when the file is missing, empty, or does not hold a step; the message says where
 */
export async function readStep(file: string): Promise<RecordedStep> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (cause) {
    throw inputError(file, reason(cause), {}, cause);
  }
  if (bytes.length === 0) throw inputError(file, "the file is empty");
  switch (extname(file).toLowerCase()) {
    case ".npz":
      return readNpz(file, bytes);
    case ".json":
      return readJson(file, textOf(bytes));
    case ".jsonl":
    case ".ndjson":
      return readRollouts(file, textOf(bytes));
    default:
      return readByContent(file, bytes);
  }
}

function readByContent(file: string, bytes: Buffer): RecordedStep {
  if (bytes.toString("latin1", 0, 4) === "PK\x03\x04") return readNpz(file, bytes);
  const text = textOf(bytes);
  return isStepObject(text) ? readJson(file, text) : readRollouts(file, text);
}

/** UTF-8, without the byte order mark that some editors write. */
function textOf(bytes: Buffer): string {
  return bytes.toString("utf8").replace(/^\ufeff/, "");
}

function isStepObject(text: string): boolean {
  try {
    const value = parseLenientJson(text);
    return isObject(value) && "fields" in value;
  } catch {
    return false;
  }
}

function reason(cause: unknown): string {
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === "ENOENT") return "no such file";
  if (code === "EISDIR") return "is a folder, not a file";
  if (code === "EACCES") return "may not be read by this user";
  return `cannot be read: ${(cause as Error).message}`;
}
