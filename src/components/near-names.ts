/** Names close enough to `wanted` to be a slip of the hand, nearest first (at most `limit`). */
export function nearNames(wanted: string, candidates: Iterable<string>, limit = 3): string[] {
  const target = wanted.toLowerCase();
  // A third of the length: one slip in a short word, more in a long one. Wider, and unrelated names would be offered.
  const reach = Math.max(1, Math.ceil(target.length / 3));
  return [...new Set(candidates)]
    .map((name) => ({ name, distance: editDistance(target, name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= reach || (target.length > 3 && name.toLowerCase().includes(target)))
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name);
}

/** Insertions, deletions, substitutions and swaps of neighbours that turn one string into the other. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(last[j]! + 1, current[j - 1]! + 1, last[j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, beforeLast[j - 2]! + 1);
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}
