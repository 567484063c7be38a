import { crc32, inflateRawSync } from "node:zlib";
import { inputError } from "./input-error.js";

const END_SIGNATURE = Buffer.from([0x50, 0x4b, 0x05, 0x06]);
const ENTRY_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
const [END_BYTES, ENTRY_BYTES, LOCAL_BYTES] = [22, 46, 30];
const STORED = 0;
const DEFLATED = 8;
/** A field with this value refers to a zip64 record: for archives beyond 4 GiB, larger than any step. */
const IN_ZIP64 = 0xffffffff;
/** Maximum size of all files of an archive together, unpacked: a few megabytes may hold a thousand times as much. */
const MAX_BYTES = 2 ** 30;

interface ZipEntry {
  readonly name: string;
  readonly method: number;
  readonly checksum: number;
  /** Bytes once unpacked. */
  readonly size: number;
  /** Where its local header starts, its data starts, and its data ends. */
  readonly start: number;
  readonly data: number;
  readonly end: number;
}

/**
 * The files of a zip archive (stored and deflated entries), by name. Before anything is inflated the central directory is read whole:
 * entries that overlap (a small archive could hold terabytes) or are too large together are refused. A checksum that does not fit
 * is an error.
 *
 * Source of the format: PKWARE APPNOTE.TXT, sections 4.3.7, 4.3.12 and 4.3.16.
 *
 * @throws INVALID_INPUT
 */
export function readZip(file: string, bytes: Buffer): Map<string, Buffer> {
  const refuse = (why: string): never => {
    throw inputError(file, `not a usable zip archive: ${why}`);
  };
  const entries = readDirectory(bytes, refuse);
  let last = 0;
  for (const { name, start, end } of [...entries].sort((a, b) => a.start - b.start)) {
    if (start < last) refuse(`${name} overlaps another file`);
    last = end;
  }
  const total = entries.reduce((sum, { size }) => sum + size, 0);
  if (total > MAX_BYTES) refuse(`unpacked it has ${total} bytes, more than the ${MAX_BYTES} that are read`);
  const files = new Map<string, Buffer>();
  for (const entry of entries) {
    if (files.has(entry.name)) refuse(`${entry.name} stands in it twice`);
    files.set(entry.name, unpack(bytes, entry, refuse));
  }
  return files;
}

function readDirectory(bytes: Buffer, refuse: (why: string) => never): ZipEntry[] {
  const end = bytes.lastIndexOf(END_SIGNATURE);
  if (end === -1 || end + END_BYTES > bytes.length) refuse("its end record is missing; the file may be cut off");
  let at = bytes.readUInt32LE(end + 16);
  return Array.from({ length: bytes.readUInt16LE(end + 10) }, () => {
    if (at + ENTRY_BYTES > bytes.length || bytes.readUInt32LE(at) !== ENTRY_SIGNATURE)
      refuse("its directory is damaged");
    const flags = bytes.readUInt16LE(at + 8);
    const packed = bytes.readUInt32LE(at + 20);
    const size = bytes.readUInt32LE(at + 24);
    const nameBytes = bytes.readUInt16LE(at + 28);
    const start = bytes.readUInt32LE(at + 42);
    const name = bytes.toString("utf8", at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes);
    if ((flags & 1) === 1) refuse(`${name} is encrypted`);
    if ([packed, size, start].includes(IN_ZIP64)) refuse(`${name} is larger than 4 GiB`);
    if (start + LOCAL_BYTES > bytes.length || bytes.readUInt32LE(start) !== LOCAL_SIGNATURE)
      refuse(`${name} is damaged`);
    const data = start + LOCAL_BYTES + bytes.readUInt16LE(start + 26) + bytes.readUInt16LE(start + 28);
    if (data + packed > bytes.length) refuse(`${name} is cut off`);
    const [method, checksum] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 16)];
    at += ENTRY_BYTES + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    return { name, method, checksum, size, start, data, end: data + packed };
  });
}

function unpack(
  bytes: Buffer,
  { name, method, checksum, size, ...at }: ZipEntry,
  refuse: (why: string) => never,
): Buffer {
  const packed = bytes.subarray(at.data, at.end);
  if (method !== STORED && method !== DEFLATED)
    refuse(`${name} uses compression method ${method}; stored and deflated can be read`);
  let content: Buffer | undefined;
  try {
    content = method === STORED ? packed : inflateRawSync(packed, { maxOutputLength: Math.max(1, size) });
  } catch {
    // Damaged, or longer than declared.
  }
  if (content?.length !== size || crc32(content) !== checksum) return refuse(`${name} is damaged`);
  return content;
}
