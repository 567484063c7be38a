import { DataflexError } from "../errors.js";

/** Checks a value that came from outside: undefined if it has the shape, else what is wrong, beginning with the key at fault. */
export type Shape = (value: unknown, path: string) => string | undefined;

const LONGEST_SHOWN = 40;

/**
 * A check of one kind of message. It ignores unknown keys, so that a newer peer may add some.
 *
 * @param what  the message's name, for the error
 * @returns a function that answers its argument, typed; it throws DataflexError DECODE naming the first key that is wrong
 */
export function checker<T>(what: string, shape: Shape): (value: unknown) => T {
  return (value) => {
    const wrong = shape(value, "");
    if (wrong !== undefined) {
      throw new DataflexError(
        "DECODE",
        `malformed ${what}: ${wrong}. The writer and this reader may be of different versions`,
        {
          message: what,
          key: wrong.split(" ", 1)[0],
        },
      );
    }
    return value as T;
  };
}

/** A value that `test` takes; `expected` completes "is …, not". */
export function such(expected: string, test: (value: unknown) => boolean): Shape {
  return (value, path) => (test(value) ? undefined : `${path || "it"} is ${shown(value)}, not ${expected}`);
}

export const text = such("text", (v) => typeof v === "string");
export const name = such("text that is not empty", (v) => typeof v === "string" && v !== "");
export const flag = such("a boolean", (v) => typeof v === "boolean");
/** Any Number, NaN and infinities included. */
export const real = such("a number", (v) => typeof v === "number");
export const count = such("a whole number from 0", (v) => Number.isSafeInteger(v) && (v as number) >= 0);
export const positive = such("a whole number from 1", (v) => Number.isSafeInteger(v) && (v as number) >= 1);
export const anything: Shape = () => undefined;

export function oneOf(words: readonly unknown[]): Shape {
  return such(`one of ${words.join(", ")}`, (v) => words.includes(v));
}

export function listOf(item: Shape): Shape {
  return (value, path) => {
    if (!Array.isArray(value)) return `${path || "it"} is ${shown(value)}, not a list`;
    for (const [i, element] of value.entries()) {
      const wrong = item(element, `${path}[${i}]`);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  };
}

/** A map with any keys. */
export function mapOf(item: Shape): Shape {
  return (value, path) => {
    if (!isMap(value)) return `${path || "it"} is ${shown(value)}, not a map`;
    for (const [key, element] of Object.entries(value)) {
      const wrong = item(element, join(path, key));
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  };
}

/** A map with these keys; `optional` ones may be absent. */
export function keys(required: Readonly<Record<string, Shape>>, optional: Readonly<Record<string, Shape>> = {}): Shape {
  const all = [...Object.entries(required), ...Object.entries(optional)];
  return (value, path) => {
    if (!isMap(value)) return `${path || "it"} is ${shown(value)}, not a map`;
    for (const [key, shape] of all) {
      const given = Object.hasOwn(value, key) ? value[key] : undefined;
      if (given === undefined && Object.hasOwn(optional, key)) continue;
      const wrong = shape(given, join(path, key));
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  };
}

/** Both; the second is applied only if the first finds nothing. */
export function both(first: Shape, second: Shape): Shape {
  return (value, path) => first(value, path) ?? second(value, path);
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

const join = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

function shown(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "string") return JSON.stringify(value.slice(0, LONGEST_SHOWN));
  if (Array.isArray(value)) return "a list";
  if (ArrayBuffer.isView(value)) return "bytes";
  return typeof value === "object" && value !== null ? "a map" : String(value).slice(0, LONGEST_SHOWN);
}
