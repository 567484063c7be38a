/**
 * JSON as Python's `json` and numpy users write it: bare `NaN`, `Infinity` and `-Infinity` are accepted and come back as the
 * strings of those names, which `toNumber` reads as numbers.
 *
 * @throws SyntaxError when the text is not JSON even so
 */
export function parseLenientJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (strict) {
    const quoted = text.replace(STRING_OR_NON_FINITE, (token) => (token.startsWith('"') ? token : `"${token}"`));
    if (quoted === text) throw strict;
    return JSON.parse(quoted);
  }
}

/** Strings are matched too, so that a `NaN` inside one is left alone. */
const STRING_OR_NON_FINITE = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g;

const WORDS = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
]);

const STRUCTURE = /"(?:[^"\\]|\\.)*"\s*:?|[{}]/g;

/**
 * The first key that one object of the text has twice, `JSON.parse` would silently take the last. `text` is JSON. Objects
 * deeper than `depth` are not looked at.
 */
export function duplicateKey(text: string, depth: number): string | undefined {
  const open: Set<string>[] = [];
  for (const [token] of text.matchAll(STRUCTURE)) {
    if (token === "{") open.push(new Set());
    else if (token === "}") open.pop();
    else if (token.endsWith(":") && open.length <= depth) {
      const key = JSON.parse(token.slice(0, -1)) as string;
      if (open.at(-1)?.has(key)) return key;
      open.at(-1)?.add(key);
    }
  }
  return undefined;
}

/** A JSON value as a number: `null`, `NaN` and `"NaN"` are NaN, booleans are 0 and 1; undefined when it is none. */
export function toNumber(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (value === null) return Number.NaN;
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "string" ? WORDS.get(value) : undefined;
}

/** A value as an error message quotes it: short, and never more than one line. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 40 ? `${text.slice(0, 37)}...` : text;
}
