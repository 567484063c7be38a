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
    const quoted = quoteNonFinite(text);
    if (quoted === text) throw strict;
    return JSON.parse(quoted);
  }
}

const NON_FINITE = /-?\b(?:Infinity|NaN)\b/g;

/** A `NaN` inside a string is left alone. */
function quoteNonFinite(text: string): string {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const open = text.indexOf('"', at);
    const end = open === -1 ? text.length : open;
    parts.push(text.slice(at, end).replace(NON_FINITE, '"$&"'));
    at = open === -1 ? text.length : stringEnd(text, open);
    if (open !== -1) parts.push(text.slice(open, at));
  }
  return parts.join("");
}

/** One past the string that begins at `open`; the text's end where it is cut off. By hand: a pattern keeps a stack as long as the string. */
function stringEnd(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) return at + 1;
    if (char === BACKSLASH) at++;
  }
  return text.length;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const WORDS = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
]);

const STRUCTURE = /["{}]/g;
const COLON = /\s*:/y;

/**
 * The first key that one object of the text has twice, `JSON.parse` would silently take the last. `text` is JSON. Objects
 * deeper than `depth` are not looked at.
 */
export function duplicateKey(text: string, depth: number): string | undefined {
  const open: Set<string>[] = [];
  STRUCTURE.lastIndex = 0;
  for (let found = STRUCTURE.exec(text); found; found = STRUCTURE.exec(text)) {
    const [mark] = found;
    if (mark === "{") open.push(new Set());
    else if (mark === "}") open.pop();
    else {
      const end = stringEnd(text, found.index);
      STRUCTURE.lastIndex = end;
      COLON.lastIndex = end;
      if (open.length > depth || !COLON.test(text)) continue;
      const key = JSON.parse(text.slice(found.index, end)) as string;
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
  const text = typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : quoteOther(value);
  return text.length > 40 ? `${text.slice(0, 37)}...` : text;
}

function quoteOther(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return "a value nested too deeply to be shown";
  }
}
