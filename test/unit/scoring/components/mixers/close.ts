import { expect } from "vitest";

/** Every share to eight digits. */
export function expectShares(have: readonly number[], want: readonly number[]): void {
  expect(have).toHaveLength(want.length);
  for (const [d, share] of want.entries()) expect(have[d], `share ${d} of ${have.join(", ")}`).toBeCloseTo(share, 7);
}
