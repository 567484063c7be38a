import { crc32, inflateRawSync } from "node:zlib";
import { inputError } from "./input-error.js";

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
const END_BYTES = 22;
const STORED = 0;
const DEFLATED = 8;
/** Fields that hold this stand for a value in a zip64 record: archives beyond 4 GiB, which no step is. */
const IN_ZIP64 = 0xffffffff;

/**
 * The files of a zip archive (stored and deflated entries), by name. Sizes are taken from the central directory and checked
 * before anything is inflated; a checksum that does not fit is an error.
 *
 * Source of the format: PKWARE APPNOTE.TXT, sections 4.3.7, 4.3.12 and 4.3.16.
 *
 * @throws INVALID_INPUT
 */
export function readZip(file: string, bytes: Buffer): Map<string, Buffer> {
  const damaged = (why: string) => inputError(file, `not a usable zip archive: ${why}`);
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end === -1 || end + END_BYTES > bytes.length || bytes.readUInt32LE(end) !== END_SIGNATURE) {
    throw damaged("its end record is missing; the file may be cut off");
  }
  const count = bytes.readUInt16LE(end + 10);
  const files = new Map<string, Buffer>();
  let at = bytes.readUInt32LE(end + 16);
  for (let i = 0; i < count; i++) {
    if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== ENTRY_SIGNATURE) throw damaged("its directory is damaged");
    const flags = bytes.readUInt16LE(at + 8);
    const method = bytes.readUInt16LE(at + 10);
    const checksum = bytes.readUInt32LE(at + 16);
    const packed = bytes.readUInt32LE(at + 20);
    const size = bytes.readUInt32LE(at + 24);
    const nameBytes = bytes.readUInt16LE(at + 28);
    const start = bytes.readUInt32LE(at + 42);
    const name = bytes.toString("utf8", at + 46, at + 46 + nameBytes);
    at += 46 + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    if ((flags & 1) === 1) throw damaged(`${name} is encrypted`);
    if ([packed, size, start].includes(IN_ZIP64)) throw damaged(`${name} is larger than 4 GiB`);
    if (start + 30 > bytes.length || bytes.readUInt32LE(start) !== LOCAL_SIGNATURE) throw damaged(`${name} is damaged`);
    const data = start + 30 + bytes.readUInt16LE(start + 26) + bytes.readUInt16LE(start + 28);
    if (data + packed > bytes.length) throw damaged(`${name} is cut off`);
    const content = unpack(bytes.subarray(data, data + packed), method, size);
    if (content === undefined)
      throw damaged(`${name} uses compression method ${method}; stored and deflated can be read`);
    if (content === "damaged" || content.length !== size || crc32(content) !== checksum)
      throw damaged(`${name} is damaged`);
    if (files.has(name)) throw damaged(`${name} stands in it twice`);
    files.set(name, content);
  }
  return files;
}

function unpack(packed: Buffer, method: number, size: number): Buffer | "damaged" | undefined {
  if (method === STORED) return packed;
  if (method !== DEFLATED) return undefined;
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, size) });
  } catch {
    return "damaged";
  }
}
