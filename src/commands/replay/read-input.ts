import { extname } from "node:path";
import { readBoundedFile } from "../../read-file.js";
import { inputError } from "./input-error.js";
import { parseLenientJson } from "./lenient-json.js";
import { isObject, readJson } from "./read-json.js";
import { readNpz } from "./read-npz.js";
import { readRollouts } from "./read-rollouts.js";
import type { RecordedStep } from "./recorded-step.js";

/** What Node can hold of one file; of text less, since a string cannot hold more. */
const MAX_BYTES = 2 ** 31 - 1;
const MAX_TEXT_BYTES = 2 ** 28;

/**
 * Reads a recorded step from a file: `.json` one object, `.npz` numpy arrays, `.jsonl` rollouts; any other name is read by what
 * it holds.
 *
 * @throws INVALID_INPUT when the file is missing, empty, or does not hold a step; the message says where
 */
export async function readStep(file: string): Promise<RecordedStep> {
  let bytes: Buffer;
  try {
    bytes = readBoundedFile(file, MAX_BYTES);
  } catch (cause) {
    throw inputError(file, (cause as Error).message, {}, cause);
  }
  if (bytes.length === 0) throw inputError(file, "the file is empty");
  switch (extname(file).toLowerCase()) {
    case ".npz":
      return readNpz(file, bytes);
    case ".json":
      return readJson(file, textOf(file, bytes));
    case ".jsonl":
    case ".ndjson":
      return readRollouts(file, textOf(file, bytes));
    default:
      return readByContent(file, bytes);
  }
}

function readByContent(file: string, bytes: Buffer): RecordedStep {
  if (bytes.toString("latin1", 0, 4) === "PK\x03\x04") return readNpz(file, bytes);
  const text = textOf(file, bytes);
  return isStepObject(text) ? readJson(file, text) : readRollouts(file, text);
}

/** UTF-8, without the byte order mark that some editors write. */
function textOf(file: string, bytes: Buffer): string {
  if (bytes.length > MAX_TEXT_BYTES)
    throw inputError(
      file,
      `it has ${bytes.length} bytes, and at most ${MAX_TEXT_BYTES} of text are read: save it as .npz`,
    );
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
