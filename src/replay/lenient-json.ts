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
