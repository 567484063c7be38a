import { Packr } from "msgpackr";
import { DataflexError } from "../../errors.js";

/**
 * Frames between a compute thread and its Python process: u32 header length, msgpack header, and bodies, each beginning at a
 * multiple of 64 bytes from the start of the frame. The header's `bodies` holds their lengths.
 */
const FRAME_LIMITS = { header: 64 * 2 ** 20, bodies: 8 * 2 ** 30 } as const;
/** Both ends are our own processes. A size above 4 GiB arrives as a 64-bit integer, which would otherwise become a BigInt. */
const HEADERS = new Packr({ useRecords: false, int64AsType: "number" });
const ALIGNMENT = 64;
const PADDING = new Uint8Array(ALIGNMENT);

const aligned = (size: number): number => Math.ceil(size / ALIGNMENT) * ALIGNMENT;

/** The pieces of a frame, in order; bodies are not copied. @throws DataflexError LIMIT. */
export function encodeFrame(header: Readonly<Record<string, unknown>>, bodies: readonly Uint8Array[]): Uint8Array[] {
  const packed = HEADERS.pack({ ...header, bodies: bodies.map((body) => body.byteLength) });
  const total = bodies.reduce((sum, body) => sum + aligned(body.byteLength), 0);
  atMost("header", packed.byteLength, FRAME_LIMITS.header);
  atMost("bodies", total, FRAME_LIMITS.bodies);
  const head = new Uint8Array(aligned(4 + packed.byteLength));
  new DataView(head.buffer).setUint32(0, packed.byteLength, true);
  head.set(packed, 4);
  const pieces: Uint8Array[] = [head];
  for (const body of bodies) {
    pieces.push(body);
    const rest = aligned(body.byteLength) - body.byteLength;
    if (rest > 0) pieces.push(PADDING.subarray(0, rest));
  }
  return pieces;
}

export interface Frame {
  readonly header: Readonly<Record<string, unknown>>;
  /** Views of one buffer, each aligned to 64 bytes. */
  readonly bodies: readonly Uint8Array[];
}

/** Assembles frames from the pieces that a socket delivers. */
export class FrameReader {
  #pieces: Uint8Array[] = [];
  #held = 0;

  /** Takes a piece; returns the frames that are now complete. @throws DataflexError LIMIT, DECODE. */
  push(piece: Uint8Array): Frame[] {
    this.#pieces.push(piece);
    this.#held += piece.byteLength;
    const frames: Frame[] = [];
    for (let size = this.#size(); size !== undefined && this.#held >= size; size = this.#size()) {
      frames.push(readFrame(this.#take(size)));
    }
    return frames;
  }

  /** Length of the current frame; undefined until its header has arrived. */
  #size(): number | undefined {
    if (this.#held < 4) return undefined;
    const length = new DataView(this.#peek(4).buffer).getUint32(0, true);
    atMost("header", length, FRAME_LIMITS.header);
    if (this.#held < 4 + length) return undefined;
    const total = sizesOf(HEADERS.unpack(this.#peek(4 + length).subarray(4))).reduce(
      (sum, size) => sum + aligned(size),
      0,
    );
    atMost("bodies", total, FRAME_LIMITS.bodies);
    return aligned(4 + length) + total;
  }

  /** A copy of the first bytes. */
  #peek(size: number): Uint8Array {
    const out = new Uint8Array(size);
    let at = 0;
    for (const piece of this.#pieces) {
      if (at >= size) break;
      const part = piece.subarray(0, size - at);
      out.set(part, at);
      at += part.byteLength;
    }
    return out;
  }

  #take(size: number): Uint8Array {
    const out = this.#peek(size);
    let left = size;
    while (left > 0) {
      const first = this.#pieces[0]!;
      if (first.byteLength > left) {
        this.#pieces[0] = first.subarray(left);
        left = 0;
      } else {
        this.#pieces.shift();
        left -= first.byteLength;
      }
    }
    this.#held -= size;
    return out;
  }
}

function readFrame(whole: Uint8Array): Frame {
  const length = new DataView(whole.buffer).getUint32(0, true);
  const header: unknown = HEADERS.unpack(whole.subarray(4, 4 + length));
  let start = aligned(4 + length);
  const bodies = sizesOf(header).map((size) => {
    const body = whole.subarray(start, start + size);
    start += aligned(size);
    return body;
  });
  return { header: header as Record<string, unknown>, bodies };
}

function sizesOf(header: unknown): number[] {
  const sizes = (header as { bodies?: unknown } | null)?.bodies;
  if (Array.isArray(sizes) && sizes.every((size) => Number.isSafeInteger(size) && size >= 0)) return sizes;
  throw new DataflexError("DECODE", "a frame of the Python process has no list of body sizes");
}

function atMost(what: string, size: number, limit: number): void {
  if (size <= limit) return;
  const message = `a frame to or from the Python process has ${size} bytes of ${what}, the limit is ${limit}`;
  throw new DataflexError("LIMIT", message, { what, size, limit });
}
