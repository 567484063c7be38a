/**
 * Group-normalised advantages of GRPO: `(reward − mean) / (deviation + 1e-6)` over the group's rows, unbiased deviation, as in
 * verl; a group of one row has mean 0 and deviation 1. All rewards equal: all advantages 0.
 *
 * @param rewards `(rows,)`
 * @param groups `(rows,)`, the group of each row
 * @returns `(rows,)`, float64
 */
export function groupAdvantages(rewards: readonly number[], groups: readonly string[]): number[] {
  const members = new Map<string, number[]>();
  groups.forEach((group, row) => {
    const rows = members.get(group);
    if (rows === undefined) members.set(group, [row]);
    else rows.push(row);
  });
  const advantages = new Array<number>(rewards.length).fill(0);
  for (const rows of members.values()) {
    const values = rows.map((row) => rewards[row]!);
    const alone = values.length === 1;
    const mean = alone ? 0 : values.reduce((sum, x) => sum + x, 0) / values.length;
    const squares = values.reduce((sum, x) => sum + (x - mean) ** 2, 0);
    const deviation = alone ? 1 : Math.sqrt(squares / (values.length - 1));
    for (const row of rows) advantages[row] = (rewards[row]! - mean) / (deviation + 1e-6);
  }
  return advantages;
}
