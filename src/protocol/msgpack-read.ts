import { DataflexError } from "../errors.js";
import type { MessageLimits } from "./message-limits.js";

/**
 * Reads the msgpack subset of the protocol. A reader of our own, because the checks have to see every byte anyway: every declared
 * length must be present in the bytes before anything is allocated, so that five hostile bytes cannot ask for four gigabytes. Refuses
 * what the subset leaves out: extension types, keys that are not strings, keys given twice, `__proto__`, integers beyond ±2^53,
 * invalid UTF-8, bytes after the message. Binary values are views of `bytes`.
 *
 * @throws DataflexError DECODE with the offset
 */
export function readMessage(bytes: Uint8Array, limits: MessageLimits): unknown {
  if (bytes.length > limits.maxBytes) fail(0, `it has ${bytes.length} bytes, the limit is ${limits.maxBytes}`);
  if (bytes.length === 0) fail(0, "it is empty");
  const reader = new MessageReader(bytes, limits);
  const value = reader.value(1);
  if (reader.at !== bytes.length) fail(reader.at, `${bytes.length - reader.at} bytes follow the message`);
  return value;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** Up to this length a loop over ASCII is faster than calling the decoder. */
const SHORT = 16;

class MessageReader {
  at = 0;
  private readonly view: DataView;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly limits: MessageLimits,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  value(depth: number): unknown {
    if (depth > this.limits.maxDepth) fail(this.at, `it is nested deeper than ${this.limits.maxDepth}`);
    const code = this.unsigned(1);
    if (code < 0x80) return code; // positive fixint
    if (code >= 0xe0) return code - 0x100; // negative fixint
    if (code < 0x90) return this.map(code & 0x0f, depth);
    if (code < 0xa0) return this.array(code & 0x0f, depth);
    if (code < 0xc0) return this.text(code & 0x1f);
    switch (code) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4: // bin 8, 16, 32
      case 0xc5:
      case 0xc6: {
        const start = this.skip(this.unsigned(1 << (code - 0xc4)));
        return this.bytes.subarray(start, this.at);
      }
      case 0xca:
        return this.view.getFloat32(this.skip(4));
      case 0xcb:
        return this.view.getFloat64(this.skip(8));
      case 0xcc: // uint 8, 16, 32
      case 0xcd:
      case 0xce:
        return this.unsigned(1 << (code - 0xcc));
      case 0xd0:
        return this.view.getInt8(this.skip(1));
      case 0xd1:
        return this.view.getInt16(this.skip(2));
      case 0xd2:
        return this.view.getInt32(this.skip(4));
      case 0xcf: // uint 64, int 64
      case 0xd3:
        return this.wide(code === 0xd3);
      case 0xd9: // str 8, 16, 32
      case 0xda:
      case 0xdb:
        return this.text(this.unsigned(1 << (code - 0xd9)));
      case 0xdc: // array 16, 32
      case 0xdd:
        return this.array(this.unsigned(code === 0xdc ? 2 : 4), depth);
      case 0xde: // map 16, 32
      case 0xdf:
        return this.map(this.unsigned(code === 0xde ? 2 : 4), depth);
      default:
        return fail(this.at - 1, `the code 0x${code.toString(16)} is an extension type or unused`);
    }
  }

  private array(length: number, depth: number): unknown[] {
    this.present(length, "array");
    const array: unknown[] = [];
    for (let i = 0; i < length; i++) array.push(this.value(depth + 1));
    return array;
  }

  private map(length: number, depth: number): Record<string, unknown> {
    this.present(length * 2, "map");
    const map: Record<string, unknown> = {};
    for (let i = 0; i < length; i++) {
      const at = this.at;
      const key = this.key();
      if (key === "__proto__") fail(at, 'a map has the key "__proto__"');
      if (Object.hasOwn(map, key)) fail(at, `a map has the key ${JSON.stringify(key)} twice`);
      map[key] = this.value(depth + 1);
    }
    return map;
  }

  private key(): string {
    const code = this.unsigned(1);
    if (code >= 0xa0 && code < 0xc0) return this.text(code & 0x1f);
    if (code >= 0xd9 && code <= 0xdb) return this.text(this.unsigned(1 << (code - 0xd9)));
    return fail(this.at - 1, "a map has a key that is not a string");
  }

  private text(length: number): string {
    if (length > this.limits.maxStringBytes) {
      fail(this.at, `a string has ${length} bytes, the limit is ${this.limits.maxStringBytes}`);
    }
    const start = this.skip(length);
    let ascii = "";
    if (length <= SHORT) {
      let k = start;
      while (k < this.at && this.bytes[k]! < 0x80) ascii += String.fromCharCode(this.bytes[k++]!);
      if (k === this.at) return ascii;
    }
    try {
      return utf8.decode(this.bytes.subarray(start, this.at));
    } catch {
      return fail(start, "a string is not valid UTF-8");
    }
  }

  private wide(signed: boolean): number {
    this.present(8, "integer");
    const value = signed ? this.view.getBigInt64(this.at) : this.view.getBigUint64(this.at);
    if (value > 2n ** 53n || value < -(2n ** 53n)) fail(this.at - 1, `the integer ${value} lies beyond ±2^53`);
    this.at += 8;
    return Number(value);
  }

  private unsigned(bytes: number): number {
    this.present(bytes, "header");
    const at = this.at;
    this.at += bytes;
    return bytes === 1 ? this.view.getUint8(at) : bytes === 2 ? this.view.getUint16(at) : this.view.getUint32(at);
  }

  /** Skips `bytes`, which must be there; returns where they start. */
  private skip(bytes: number): number {
    this.present(bytes, "value");
    const start = this.at;
    this.at += bytes;
    return start;
  }

  /** Every item takes at least one byte: a count above the number of bytes left is refused before anything is allocated. */
  private present(bytes: number, what: string): void {
    const left = this.bytes.length - this.at;
    if (bytes > left) fail(this.at, `the ${what} here needs ${bytes} bytes and ${left} are left`);
  }
}

function fail(offset: number, why: string): never {
  throw new DataflexError("DECODE", `Cannot read the message at byte ${offset}: ${why}.`, { offset });
}
