/**
 * Two conditions that a component can meet without being at fault. They are thrown through it and handled by its caller: since
 * components are pure, it is simply run again. They extend Error only so that a stray one has a stack.
 */

/**
 * A non-finite value was about to be used. The caller applies the pipeline's `on_nonfinite`.
 * `source` is a field ("field 'advantages'") or a computed thing ("scores of 'softmax'"); `column` is absent for `(rows,)` values.
 */
export class NonFinite extends Error {
  override readonly name = "NonFinite";
  constructor(
    readonly source: string,
    readonly rows: readonly number[],
    readonly column?: number,
    readonly value?: number,
  ) {
    super(`${source}: row ${rows[0]}${column === undefined ? "" : `, column ${column}`} is ${value ?? "not finite"}`);
  }
}

/** A component asked for a tensor outside a tensor scope. The caller loads the backend, opens a scope and runs it again. */
export class TensorsNeeded extends Error {
  override readonly name = "TensorsNeeded";
  constructor() {
    super(
      "a tensor was asked for where none can be made: call the component through the pipeline or dataflex-mq/testing",
    );
  }
}
