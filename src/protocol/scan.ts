import { DataflexError } from "../errors.js";
import type { MessageLimits } from "./message-limits.js";

/**
 * Walks a msgpack message by its headers, before anything is built from it: every declared length must be present in the bytes, so
 * that five hostile bytes cannot ask for four gigabytes. Refuses what the protocol's subset leaves out: extension types, keys
 * that are not strings, keys given twice, `__proto__`, integers beyond ±2^53, invalid UTF-8, bytes after the message.
 *
 * @throws DataflexError DECODE with the offset
 */
export function scanMessage(bytes: Uint8Array, limits: MessageLimits): void {
  if (bytes.length > limits.maxBytes) fail(0, `it has ${bytes.length} bytes, the limit is ${limits.maxBytes}`);
  if (bytes.length === 0) fail(0, "it is empty");
  const scanner = new Scanner(bytes, limits);
  scanner.value(1);
  if (scanner.at !== bytes.length) fail(scanner.at, `${bytes.length - scanner.at} bytes follow the message`);
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

class Scanner {
  at = 0;
  private readonly view: DataView;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly limits: MessageLimits,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  value(depth: number): void {
    if (depth > this.limits.maxDepth) fail(this.at, `it is nested deeper than ${this.limits.maxDepth}`);
    const code = this.unsigned(1);
    if (code < 0x80 || code >= 0xe0) return; // fixint, positive and negative
    if (code < 0x90) this.map(code & 0x0f, depth);
    else if (code < 0xa0) this.array(code & 0x0f, depth);
    else if (code < 0xc0) this.text(code & 0x1f);
    else this.coded(code, depth);
  }

  private coded(code: number, depth: number): void {
    switch (code) {
      case 0xc0: // nil
      case 0xc2: // false
      case 0xc3: // true
        break;
      case 0xc4: // bin 8, 16, 32
      case 0xc5:
      case 0xc6:
        this.skip(this.unsigned(1 << (code - 0xc4)));
        break;
      case 0xca: // float 32, 64
      case 0xcb:
        this.skip(code === 0xca ? 4 : 8);
        break;
      case 0xcc: // uint 8, 16, 32
      case 0xcd:
      case 0xce:
        this.skip(1 << (code - 0xcc));
        break;
      case 0xd0: // int 8, 16, 32
      case 0xd1:
      case 0xd2:
        this.skip(1 << (code - 0xd0));
        break;
      case 0xcf: // uint 64, int 64
      case 0xd3:
        this.wide(code === 0xd3);
        break;
      case 0xd9: // str 8, 16, 32
      case 0xda:
      case 0xdb:
        this.text(this.unsigned(1 << (code - 0xd9)));
        break;
      case 0xdc: // array 16, 32
      case 0xdd:
        this.array(this.unsigned(code === 0xdc ? 2 : 4), depth);
        break;
      case 0xde: // map 16, 32
      case 0xdf:
        this.map(this.unsigned(code === 0xde ? 2 : 4), depth);
        break;
      default:
        fail(this.at - 1, `the code 0x${code.toString(16)} is an extension type or unused`);
    }
  }

  private array(length: number, depth: number): void {
    this.present(length, "array");
    for (let i = 0; i < length; i++) this.value(depth + 1);
  }

  private map(length: number, depth: number): void {
    this.present(length * 2, "map");
    const keys = new Set<string>();
    for (let i = 0; i < length; i++) {
      const at = this.at;
      const key = this.key();
      if (key === "__proto__") fail(at, 'a map has the key "__proto__"');
      if (keys.has(key)) fail(at, `a map has the key ${JSON.stringify(key)} twice`);
      keys.add(key);
      this.value(depth + 1);
    }
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
    const start = this.at;
    this.skip(length);
    try {
      return utf8.decode(this.bytes.subarray(start, this.at));
    } catch {
      return fail(start, "a string is not valid UTF-8");
    }
  }

  private wide(signed: boolean): void {
    this.present(8, "integer");
    const value = signed ? this.view.getBigInt64(this.at) : this.view.getBigUint64(this.at);
    if (value > 2n ** 53n || value < -(2n ** 53n)) fail(this.at - 1, `the integer ${value} lies beyond ±2^53`);
    this.at += 8;
  }

  private unsigned(bytes: number): number {
    this.present(bytes, "header");
    const at = this.at;
    this.at += bytes;
    return bytes === 1 ? this.view.getUint8(at) : bytes === 2 ? this.view.getUint16(at) : this.view.getUint32(at);
  }

  private skip(bytes: number): void {
    this.present(bytes, "value");
    this.at += bytes;
  }

  /** Every item takes a byte at least: a count above the bytes left is a lie, and is found before anything is allocated. */
  private present(bytes: number, what: string): void {
    const left = this.bytes.length - this.at;
    if (bytes > left) fail(this.at, `the ${what} here needs ${bytes} bytes and ${left} are left`);
  }
}

function fail(offset: number, why: string): never {
  throw new DataflexError("DECODE", `Cannot read the message at byte ${offset}: ${why}.`, { offset });
}
