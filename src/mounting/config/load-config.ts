import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  visit,
} from "yaml";
import { defined } from "../../defined.js";
import { DataflexError } from "../../errors.js";
import { MAX_REQUEST_BYTES } from "../../protocol/message-limits.js";
import type { TrainerSettings } from "../../protocol/mount-messages.js";
import { readBoundedFile, type UnreadableFile } from "../../read-file.js";
import { didYouMean } from "../../suggest.js";
import { isRecord, show } from "./describe.js";
import { listOptions } from "./options.js";
import type { LocatedProblem, Place } from "./problems.js";
import type { Path } from "./schema-check.js";
import { dig, trainerSettingsOf } from "./trainer-options.js";

/** Configuration files are a few kilobytes; a larger one is a mistake (a data file), and could not be mounted. */
const MAX_BYTES = MAX_REQUEST_BYTES;

/** One missing bracket can make every later line an error: the first few are enough. */
const MAX_SYNTAX_ERRORS = 3;

/** Messages of the parser that are meant for programmers, in our words. */
const SYNTAX: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: "more than one document; leave the one with the dataflex block, without ---",
};

const tooDeep = (message: string): string | undefined =>
  message.includes("call stack") ? "nested too deeply" : undefined;

/** What a configuration file says, and where it says it. */
export interface ConfigFile {
  readonly file: string;
  /** The `dataflex:` block, unchecked: `resolveMount` judges it. */
  readonly dataflex: unknown;
  /** `algorithm.adv_estimator`, as written. */
  readonly adv_estimator?: string;
  /** `actor_rollout_ref.rollout.n`: rows a group has. */
  readonly group_size?: number;
  /** The settings that decide whether weights can take effect; only from a whole verl configuration. */
  readonly trainer?: TrainerSettings;
  readonly notes: readonly string[];
  /** Line and column (from 1) of a problem's path, which begins with `dataflex`; those of the nearest parent if it is absent. */
  locate(path: Path): Place | undefined;
}

export type Loaded =
  | { readonly ok: true; readonly config: ConfigFile }
  | { readonly ok: false; readonly problems: readonly LocatedProblem[] };

/**
 * Reads a YAML or JSON file: a whole verl configuration (`dataflex:`, `algorithm.adv_estimator`, `actor_rollout_ref.rollout.n` and what
 * `VERL_PATHS` names are read, the rest ignored) or a bare dataflex block.
 * @throws DataflexError CONFIG when the file cannot be read.
 */
export async function loadConfig(file: string): Promise<Loaded> {
  let bytes: Buffer;
  try {
    bytes = readBoundedFile(file, MAX_BYTES);
  } catch (cause) {
    const { code, message } = cause as UnreadableFile;
    throw new DataflexError("CONFIG", `cannot read ${file}: ${message}`, { file, code }, { cause });
  }
  return parseConfig(bytes.toString("utf8"), file);
}

/** The pure part of `loadConfig`: `text` as read from `file`. */
export function parseConfig(text: string, file: string): Loaded {
  const lines = new LineCounter();
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line, col };
  };
  const refuse = (message: string, place?: Place, suggestion?: string): Loaded => ({
    ok: false,
    problems: [{ file, path: [], message, ...(place ?? {}), ...defined({ suggestion }) }],
  });
  let document: Document.Parsed;
  try {
    // The parser compares each key of a mapping with all others, which takes hours for hundreds of thousands.
    const options = { merge: true, prettyErrors: false, uniqueKeys: false, logLevel: "error" } as const;
    document = parseDocument(text, { lineCounter: lines, ...options });
  } catch (error) {
    return refuse(`not readable as YAML or JSON: ${(error as Error).message}`); // nested past the parser's own recursion
  }
  if (document.errors.length > 0) {
    return {
      ok: false,
      problems: document.errors.slice(0, MAX_SYNTAX_ERRORS).map((e) => ({
        file,
        path: [],
        message: `not readable as YAML or JSON: ${SYNTAX[e.code] ?? tooDeep(e.message) ?? e.message}`,
        ...at(e.pos[0]),
      })),
    };
  }
  const twice = duplicateKey(document);
  if (twice !== undefined) {
    const [offset = 0] = twice.range ?? [];
    return refuse(
      `not readable as YAML or JSON: Map keys must be unique: ${show(twice.value)} occurs twice`,
      at(offset),
    );
  }
  let root: unknown;
  try {
    root = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    return refuse(`aliases of this file cannot be expanded: ${(error as Error).message}`);
  }
  if (cyclic(root)) return refuse("an alias of this file contains itself", { line: 1, col: 1 });
  if (root === null || root === undefined)
    return refuse("the file is empty", { line: 1, col: 1 }, "it needs a dataflex block");
  if (!isRecord(root)) return refuse("the file must hold a mapping at its top level", { line: 1, col: 1 });

  const whole = Object.hasOwn(root, "dataflex");
  if (!whole) {
    const names = listOptions()
      .map((option) => option.name)
      .concat("pipelines");
    if (!Object.keys(root).some((key) => names.includes(key))) {
      const typo = Object.keys(root).find((key) => didYouMean(key, ["dataflex"]) !== undefined);
      const suggestion = typo === undefined ? "add one at the top level" : `"${typo}": did you mean "dataflex"?`;
      const place = typo === undefined ? { line: 1, col: 1 } : locateIn(document.contents, [typo], at);
      return refuse("no dataflex block in this file", place, suggestion);
    }
  }
  const notes: string[] = [];
  const adv_estimator = whole ? estimatorOf(root, notes) : undefined;
  const group_size = whole ? groupSizeOf(root, notes) : undefined;
  const trainer = whole ? trainerSettingsOf(root, notes) : undefined;
  const resolveAlias = (node: unknown) => (isAlias(node) ? node.resolve(document) : node);
  return {
    ok: true,
    config: {
      file,
      dataflex: whole ? root.dataflex : root,
      ...defined({ adv_estimator, group_size, trainer }),
      notes,
      locate: (path) => locateIn(document.contents, whole ? path : path.slice(1), at, resolveAlias),
    },
  };
}

/** The second of two equal keys of one mapping; `<<` merges and may stand several times. */
function duplicateKey(document: Document.Parsed): Scalar | undefined {
  let found: Scalar | undefined;
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<string>();
      for (const { key } of items) {
        if (!isScalar(key) || key.value === "<<") continue;
        if (seen.has(String(key.value))) found ??= key;
        seen.add(String(key.value));
      }
      return found && visit.BREAK;
    },
  });
  return found;
}

type At = (offset: number) => Place;

/** The key of the last part that exists (the item, in a list): zod names a stray key, so its own node is looked up. */
function locateIn(root: unknown, path: Path, at: At, resolve = (node: unknown): unknown => node): Place | undefined {
  let here = resolve(root);
  let found: Node | undefined;
  for (const part of path) {
    if (isMap(here)) {
      const pair = here.items.find((item) => isScalar(item.key) && String(item.key.value) === String(part));
      if (pair === undefined) break;
      found = pair.key as Node;
      here = resolve(pair.value);
    } else if (isSeq(here)) {
      const item = here.items[Number(part)];
      if (item === undefined) break;
      found = item as Node;
      here = resolve(item);
    } else break;
  }
  const offset = (found ?? (root as Node | null))?.range?.[0];
  return offset === undefined ? undefined : at(offset);
}

function estimatorOf(root: Record<string, unknown>, notes: string[]): string | undefined {
  const value = dig(root, ["algorithm", "adv_estimator"]);
  if (typeof value === "string" && value.trim() !== "" && !value.includes("${")) return value;
  if (value !== undefined && value !== null)
    notes.push(`algorithm.adv_estimator is not a plain name (${show(value)}): not read`);
  return undefined;
}

function groupSizeOf(root: Record<string, unknown>, notes: string[]): number | undefined {
  const value = dig(root, ["actor_rollout_ref", "rollout", "n"]);
  if (typeof value === "number" && Number.isInteger(value) && value >= 1) return value;
  if (value !== undefined && value !== null) {
    notes.push(`actor_rollout_ref.rollout.n is not a whole number (${show(value)}): the group size is not known`);
  }
  return undefined;
}

function cyclic(value: unknown, above = new Set<unknown>()): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (above.has(value)) return true;
  above.add(value);
  const found = Object.values(value).some((item) => cyclic(item, above));
  above.delete(value);
  return found;
}
