import { DataflexError } from "../errors.js";
import { MESSAGE_LIMITS } from "./message-limits.js";

/**
 * Writes the msgpack subset of the protocol. A writer of our own, because msgpackr's loses the sign of -0, writes whole numbers from
 * 2^32 up as floats, and accepts Map, Set and class instances silently; all three would reach Python as something else.
 * It always takes the shortest form, so equal values are equal bytes in every language.
 */
export class MessageWriter {
  private buffer = Buffer.allocUnsafe(512);
  private at = 0;
  private readonly path: (string | number)[] = [];

  /** @throws DataflexError INVALID_INPUT with the key path of a value that cannot be encoded */
  write(value: unknown): Uint8Array {
    this.value(value);
    return this.buffer.subarray(0, this.at);
  }

  private value(value: unknown): void {
    if (value === null) this.byte(0xc0);
    else if (typeof value === "boolean") this.byte(value ? 0xc3 : 0xc2);
    else if (typeof value === "number") this.number(value);
    else if (typeof value === "string") this.string(value);
    else if (typeof value === "object") this.object(value);
    else if (typeof value === "undefined") this.refuse("undefined; leave the key out or send null");
    else if (typeof value === "bigint") this.refuse("a BigInt; send a Number within ±2^53 or a string");
    else this.refuse(`a ${typeof value}`);
  }

  private object(value: object): void {
    if (this.path.length >= MESSAGE_LIMITS.maxDepth - 1) {
      this.refuse(`nested deeper than ${MESSAGE_LIMITS.maxDepth} (a cycle?)`);
    }
    if (Array.isArray(value)) {
      this.head(value.length, 0x90, 16, 0, 0xdc);
      for (let i = 0; i < value.length; i++) this.member(i, value[i]);
    } else if (value instanceof Uint8Array) {
      this.head(value.length, 0, 0, 0xc4, 0xc5);
      this.reserve(value.length);
      this.buffer.set(value, this.at);
      this.at += value.length;
    } else {
      const prototype: unknown = Object.getPrototypeOf(value);
      if (prototype !== Object.prototype && prototype !== null) this.refuse(this.instance(value));
      const entries = Object.entries(value);
      this.head(entries.length, 0x80, 16, 0, 0xde);
      for (const [key, member] of entries) {
        if (key === "__proto__") this.refuse('a key "__proto__"');
        this.string(key);
        this.member(key, member);
      }
    }
  }

  private member(key: string | number, value: unknown): void {
    this.path.push(key);
    this.value(value);
    this.path.pop();
  }

  private number(value: number): void {
    if (!Number.isInteger(value) || Math.abs(value) > 2 ** 53 || Object.is(value, -0)) {
      this.reserve(9);
      this.buffer[this.at] = 0xcb;
      this.buffer.writeDoubleBE(value, this.at + 1);
      this.at += 9;
    } else if (value >= 0) {
      if (value < 0x80) this.byte(value);
      else if (value < 0x100) this.unsigned(0xcc, value, 1);
      else if (value < 0x10000) this.unsigned(0xcd, value, 2);
      else if (value < 2 ** 32) this.unsigned(0xce, value, 4);
      else this.wide(0xcf, value);
    } else if (value >= -0x20) this.byte(0x100 + value);
    else if (value >= -0x80) this.unsigned(0xd0, value + 0x100, 1);
    else if (value >= -0x8000) this.unsigned(0xd1, value + 0x10000, 2);
    else if (value >= -(2 ** 31)) this.unsigned(0xd2, value + 2 ** 32, 4);
    else this.wide(0xd3, value);
  }

  private string(value: string): void {
    if (/\p{Surrogate}/u.test(value)) this.refuse("a string with half a surrogate pair, which UTF-8 cannot hold");
    const length = Buffer.byteLength(value);
    this.head(length, 0xa0, 32, 0xd9, 0xda);
    this.reserve(length);
    this.at += this.buffer.write(value, this.at, "utf8");
  }

  /** Length header: `fix | n` below `fixBelow`, else the 8-bit code (0: the family has none), the 16-bit code, the 32-bit one after it. */
  private head(length: number, fix: number, fixBelow: number, code8: number, code16: number): void {
    if (length < fixBelow) this.byte(fix | length);
    else if (code8 !== 0 && length < 0x100) this.unsigned(code8, length, 1);
    else if (length < 0x10000) this.unsigned(code16, length, 2);
    else this.unsigned(code16 + 1, length, 4);
  }

  private unsigned(code: number, value: number, bytes: number): void {
    this.byte(code);
    this.reserve(bytes);
    this.at = this.buffer.writeUIntBE(value, this.at, bytes);
  }

  private wide(code: number, value: number): void {
    this.byte(code);
    this.reserve(8);
    this.at = this.buffer.writeBigInt64BE(BigInt(value), this.at);
  }

  private byte(value: number): void {
    this.reserve(1);
    this.buffer[this.at++] = value;
  }

  private reserve(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.at + bytes));
    this.buffer.copy(grown, 0, 0, this.at);
    this.buffer = grown;
  }

  private instance(value: object): string {
    const name = value.constructor?.name ?? "unknown";
    const hint = ArrayBuffer.isView(value)
      ? "; tensors travel as columns, not in messages"
      : value instanceof Map || value instanceof Set
        ? "; send a plain object with string keys, or an array"
        : "";
    return `a ${name}${hint}`;
  }

  private refuse(what: string): never {
    const where = this.path.length === 0 ? "The message" : `"${this.path.join(".")}"`;
    throw new DataflexError("INVALID_INPUT", `${where} is or holds ${what}; a message takes plain data only.`, {
      path: [...this.path],
    });
  }
}
