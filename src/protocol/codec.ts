import { MESSAGE_LIMITS, type MessageLimits } from "./message-limits.js";
import { readMessage } from "./msgpack-read.js";
import { MessageWriter } from "./msgpack-write.js";

/**
 * A message as standard msgpack: null, booleans, Numbers, strings, Uint8Array (bin), arrays, plain objects with string keys.
 *
 * Numbers: a whole Number within ±2^53, except -0, is an integer; every other Number (-0, NaN, ±Infinity, fractions, beyond
 * ±2^53) is a float64. A reader must therefore take an integer where it expects a float. Tensors are never sent as lists of numbers.
 *
 * @throws DataflexError INVALID_INPUT with the key path: Map, Set, BigInt, undefined, functions, symbols, class instances, other
 *   typed arrays, a key `__proto__`, nesting beyond 16, half a surrogate pair
 */
export function pack(value: unknown): Uint8Array {
  return new MessageWriter().write(value);
}

/**
 * Reads one message. Data only: nothing in the bytes can name a type or run anything. Declared sizes are checked before allocation.
 *
 * @throws DataflexError DECODE: empty, truncated, followed by other bytes, too deep or too long, extension types, keys that are not strings, integers
 *   beyond ±2^53, invalid UTF-8
 */
export function unpack(bytes: Uint8Array, limits: MessageLimits = MESSAGE_LIMITS): unknown {
  return readMessage(bytes, limits);
}
