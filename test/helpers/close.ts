import { expect } from "vitest";

/** Equal to the digits printed in the fixtures: 1e-6 after the float32 cast, tighter for plain numbers. */
export function expectClose(have: Iterable<number>, want: readonly number[], tolerance = 1e-6): void {
  const list = [...have];
  expect(list).toHaveLength(want.length);
  want.forEach((value, i) => {
    const difference = Math.abs(list[i]! - value);
    expect(difference, `entry ${i}: ${list[i]} instead of ${value}`).toBeLessThanOrEqual(
      tolerance * Math.max(1, Math.abs(value)),
    );
  });
}
