import type { Bit } from "./bytes.js";
import type { DType } from "./dtypes.js";

const FLOAT_ONE = 0x3f800000;
const DOUBLE_ONE = 0x3ff0000000000000n;

/** The bits of 1 in the plain array that stands for a dtype (f16 and bf16 are float32 there, i64 is float64). */
export function bitsOfOne(dtype: DType): Bit {
  switch (dtype) {
    case "f32":
    case "f16":
    case "bf16":
      return FLOAT_ONE;
    case "f64":
    case "i64":
      return DOUBLE_ONE;
    default:
      return 1;
  }
}
