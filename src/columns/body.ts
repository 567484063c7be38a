import { defined } from "../defined.js";
import { padded } from "./bytes.js";
import type { Parts } from "./encodings/part.js";
import type { ColumnHeader } from "./tensor.js";

/** A column before it has a place in the body. */
export type Encoded = Omit<ColumnHeader, "name" | "parts"> & { readonly content: Parts };

const PADDING = new Uint8Array(8);

/** The bytes of a put or a result while columns are added; every part of a column starts at a multiple of 8. */
export class Body {
  readonly columns: ColumnHeader[] = [];
  readonly parts: Uint8Array[] = [];
  bytes = 0;

  add(name: string, { content, enc, dtype, shape, scope, distinct }: Encoded): void {
    const places: Record<string, readonly [number, number]> = {};
    for (const [part, bytes] of content) {
      places[part] = [this.bytes, bytes.length];
      const padding = padded(bytes.length) - bytes.length;
      if (bytes.length > 0) this.parts.push(bytes);
      if (padding > 0) this.parts.push(PADDING.subarray(0, padding));
      this.bytes += bytes.length + padding;
    }
    this.columns.push({
      name,
      enc,
      ...defined({ dtype }),
      shape,
      ...defined({ scope }),
      parts: places,
      ...defined({ distinct }),
    });
  }
}
