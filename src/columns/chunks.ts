import { DataflexError } from "../errors.js";
import { ALIGNMENT } from "./bytes.js";

/**
 * Cuts a body into chunks of `chunkBytes`, the last one shorter; no chunk for an empty body. A chunk that lies in one part is a view of it.
 *
 * @param parts  consecutive pieces of the body, `bytes` long in all
 */
export function chunksOf(parts: readonly Uint8Array[], bytes: number, chunkBytes: number): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let part = 0;
  let at = 0;
  for (let offset = 0; offset < bytes; offset += chunkBytes) {
    const length = Math.min(chunkBytes, bytes - offset);
    while (part < parts.length && at === parts[part]!.length) {
      part++;
      at = 0;
    }
    if (parts[part]!.length - at >= length) {
      chunks.push(parts[part]!.subarray(at, at + length));
      at += length;
      continue;
    }
    const chunk = new Uint8Array(length);
    for (let filled = 0; filled < length; ) {
      const piece = parts[part]!.subarray(at, at + length - filled);
      chunk.set(piece, filled);
      filled += piece.length;
      at += piece.length;
      if (at === parts[part]!.length) {
        part++;
        at = 0;
      }
    }
    chunks.push(chunk);
  }
  return chunks;
}

/** First and last chunk (counted from 0, both included) that hold the bytes `[offset, offset + length)`; `[0, -1]` for none. */
export function chunkSpan(offset: number, length: number, chunkBytes: number): [first: number, last: number] {
  if (length === 0) return [0, -1];
  return [Math.floor(offset / chunkBytes), Math.floor((offset + length - 1) / chunkBytes)];
}

/**
 * The bytes `[offset, offset + length)` of a body from those of its chunks that were read, 8-aligned: a view if they lie aligned in one
 * chunk, otherwise one copy.
 *
 * @param chunks  by number from 0; only those of `chunkSpan` are read
 * @throws DataflexError CHUNKS_MISSING naming the chunk that is absent or too short
 */
export function bytesFromChunks(
  chunks: ReadonlyMap<number, Uint8Array>,
  offset: number,
  length: number,
  chunkBytes: number,
): Uint8Array {
  const [first, last] = chunkSpan(offset, length, chunkBytes);
  if (last < first) return new Uint8Array(0);
  if (first === last) {
    const start = offset - first * chunkBytes;
    const piece = pieceOf(chunks, first, start, length);
    return piece.byteOffset % ALIGNMENT === 0 ? piece : new Uint8Array(piece);
  }
  const out = new Uint8Array(length);
  for (let at = offset; at < offset + length; ) {
    const number = Math.floor(at / chunkBytes);
    const start = at - number * chunkBytes;
    const piece = pieceOf(chunks, number, start, Math.min(chunkBytes - start, offset + length - at));
    out.set(piece, at - offset);
    at += piece.length;
  }
  return out;
}

function pieceOf(chunks: ReadonlyMap<number, Uint8Array>, number: number, start: number, length: number): Uint8Array {
  const chunk = chunks.get(number);
  if (chunk === undefined || chunk.length < start + length) {
    const found = chunk === undefined ? "is missing" : `has ${chunk.length} bytes, ${start + length} are needed`;
    throw new DataflexError("CHUNKS_MISSING", `Chunk ${number} ${found}; the put has to be sent again.`, {
      chunk: number,
    });
  }
  return chunk.subarray(start, start + length);
}
