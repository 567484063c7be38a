/** What every object of a thread shares: changed by one component, it is changed for all that follow. */
const SHARED: Readonly<Record<string, object>> = {
  Object: Object.prototype,
  Function: Function.prototype,
  Array: Array.prototype,
  String: String.prototype,
  Number: Number.prototype,
  Boolean: Boolean.prototype,
  Promise: Promise.prototype,
  Map: Map.prototype,
  Set: Set.prototype,
  Error: Error.prototype,
  TypedArray: Object.getPrototypeOf(Uint8Array.prototype) as object,
  Float32Array: Float32Array.prototype,
  Int32Array: Int32Array.prototype,
  Uint8Array: Uint8Array.prototype,
  ArrayBuffer: ArrayBuffer.prototype,
};

interface Known {
  readonly name: string;
  readonly object: object;
  readonly keys: readonly PropertyKey[];
  readonly values: readonly unknown[];
}

/**
 * Remembers the shared objects as they are. Frozen ones would break code that only assigns to its own objects, so they are compared.
 * Loops and no methods: those of arrays may be what has changed.
 *
 * @returns a function that names the first thing that has changed since: `Object.prototype.polluted`
 */
export function watchIntrinsics(): () => string | undefined {
  const { ownKeys } = Reflect;
  const before: Known[] = Object.entries(SHARED).map(([name, object]) => {
    const keys = ownKeys(object);
    return { name, object, keys, values: keys.map((key) => propertyOf(object, key)) };
  });
  return () => {
    for (let i = 0; i < before.length; i++) {
      const { name, object, keys, values } = before[i]!;
      for (let k = 0; k < keys.length; k++)
        if (propertyOf(object, keys[k]!) !== values[k]) return `${name}.prototype.${String(keys[k])}`;
      const now = ownKeys(object);
      for (let n = 0, k = 0; now.length !== keys.length && n < now.length; n++, k++)
        if (now[n] !== keys[k]) return `${name}.prototype.${String(now[n])}`;
    }
    return undefined;
  };
}

const { getOwnPropertyDescriptor } = Reflect;
function propertyOf(object: object, key: PropertyKey): unknown {
  const property = getOwnPropertyDescriptor(object, key);
  return property?.value ?? property?.get;
}
