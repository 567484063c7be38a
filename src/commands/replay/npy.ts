import type { DType, TypedArray } from "../../columns/dtypes.js";
import { inputError } from "./input-error.js";

/** An array as numpy saved it, row-major. `strings` for fixed-width unicode. */
export type NpyArray =
  | { readonly kind: "numbers"; readonly dtype: DType; readonly shape: readonly number[]; readonly data: TypedArray }
  | { readonly kind: "strings"; readonly shape: readonly number[]; readonly values: readonly string[] };

const MAGIC = "\x93NUMPY";

/** numpy's type codes that can be read: how many bytes an element takes, the wire's name for it, and its view. */
const ELEMENTS = {
  f2: { bytes: 2, dtype: "f16", view: Uint16Array },
  f4: { bytes: 4, dtype: "f32", view: Float32Array },
  f8: { bytes: 8, dtype: "f64", view: Float64Array },
  i1: { bytes: 1, dtype: "i8", view: Int8Array },
  u1: { bytes: 1, dtype: "u8", view: Uint8Array },
  i4: { bytes: 4, dtype: "i32", view: Int32Array },
  i8: { bytes: 8, dtype: "i64", view: BigInt64Array },
  b1: { bytes: 1, dtype: "bool", view: Uint8Array },
} as const satisfies Record<string, { bytes: number; dtype: DType; view: unknown }>;

/**
 * One `.npy` file, format versions 1 to 3: little-endian numbers, booleans and fixed-width unicode. Arrays of Python objects are
 * pickles, that is code, and are refused.
 *
 * Source of the format: numpy.lib.format.
 *
 * @throws INVALID_INPUT naming the array
 */
export function readNpy(file: string, name: string, bytes: Buffer): NpyArray {
  const refuse = (why: string) => inputError(file, `array ${name}: ${why}`, { field: name });
  const version = bytes[6] ?? 0;
  if (bytes.length < 10 || bytes.toString("latin1", 0, 6) !== MAGIC || version < 1 || version > 3) {
    throw refuse("not in numpy's .npy format, versions 1 to 3");
  }
  const start = version === 1 ? 10 : 12;
  const headerBytes = version === 1 ? bytes.readUInt16LE(8) : bytes.length < 12 ? 0 : bytes.readUInt32LE(8);
  if (start + headerBytes > bytes.length) throw refuse("its header is cut off");
  const header = bytes.toString("utf8", start, start + headerBytes);
  const descr = /'descr':\s*'([^']*)'/.exec(header)?.[1];
  const order = /'fortran_order':\s*(True|False)/.exec(header)?.[1];
  const shapeText = /'shape':\s*\(([\d,\s]*)\)/.exec(header)?.[1];
  if (descr === undefined || order === undefined || shapeText === undefined) {
    throw refuse("its header describes no plain array (structured types cannot be read)");
  }
  if (descr.includes("O")) {
    throw refuse("it holds Python objects, which are stored as code; save strings with np.array(values, dtype=str)");
  }
  const shape = shapeText
    .split(",")
    .filter((part) => part.trim() !== "")
    .map(Number);
  const count = shape.reduce((product, n) => product * n, 1);
  const body = bytes.subarray(start + headerBytes);
  const [endian, code] = [descr[0], descr.slice(1)];
  if (endian === ">" && !code.endsWith("1"))
    throw refuse(`its numbers are big-endian (${descr}); save it with '<${code}'`);
  const text = /^U([1-9]\d*)$/.exec(code);
  const element = Object.hasOwn(ELEMENTS, code) ? ELEMENTS[code as keyof typeof ELEMENTS] : undefined;
  const bytesEach = text !== null ? 4 * Number(text[1]) : element?.bytes;
  if (bytesEach === undefined) {
    throw refuse(`type ${descr} cannot be read; use one of ${Object.keys(ELEMENTS).join(", ")} or U<n>`);
  }
  if (body.length !== count * bytesEach)
    throw refuse(`its shape (${shape}) needs ${count * bytesEach} bytes, it has ${body.length}`);
  const rowMajor = order === "True" && shape.length > 1 ? transposed(body, shape, bytesEach) : body;
  if (text !== null) return { kind: "strings", shape, values: strings(rowMajor, count, bytesEach) };
  const { dtype, view } = element!;
  // A copy of its own: views need an offset that is a multiple of the element's size.
  const buffer = new Uint8Array(rowMajor).buffer;
  return { kind: "numbers", dtype, shape, data: new view(buffer) };
}

/** UCS-4 with trailing NULs cut, as numpy compares such strings. */
function strings(body: Buffer, count: number, bytesEach: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    let text = "";
    for (let at = i * bytesEach; at < (i + 1) * bytesEach; at += 4) {
      const point = body.readUInt32LE(at);
      text += point <= 0x10ffff ? String.fromCodePoint(point) : "\ufffd";
    }
    return text.replace(/\0+$/, "");
  });
}

/** Column-major bytes in row-major order. */
function transposed(body: Buffer, shape: readonly number[], bytesEach: number): Buffer {
  const out = Buffer.alloc(body.length);
  const index = shape.map(() => 0);
  for (let to = 0; to < body.length; to += bytesEach) {
    let from = 0;
    for (let axis = shape.length - 1; axis >= 0; axis--) from = from * shape[axis]! + index[axis]!;
    body.copy(out, to, from * bytesEach, (from + 1) * bytesEach);
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      index[axis]! += 1;
      if (index[axis]! < shape[axis]!) break;
      index[axis] = 0;
    }
  }
  return out;
}
