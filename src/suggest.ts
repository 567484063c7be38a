/** Longest name compared: a hostile megabyte key must not cost a quadratic comparison. */
const MAX_LENGTH = 64;
/** Names printed before a list is cut. */
const MAX_LISTED = 12;

/**
 * Names of `candidates` close to `name`: optimal string alignment distance (a swap of neighbours is one edit), case ignored,
 * at most max(2, length / 3) and always less than the name's own length. Only the nearest, by name where several are equally
 * near; at most three.
 */
export function nearest(name: string, candidates: Iterable<string>): string[] {
  if (name.length === 0 || name.length > MAX_LENGTH) return [];
  const wanted = name.toLowerCase();
  const limit = Math.min(Math.max(2, Math.floor(name.length / 3)), name.length - 1);
  const found: { name: string; distance: number }[] = [];
  for (const candidate of new Set(candidates)) {
    if (candidate.length > MAX_LENGTH || Math.abs(candidate.length - name.length) > limit) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance <= limit) found.push({ name: candidate, distance });
  }
  const best = Math.min(...found.map((f) => f.distance));
  const names = found.filter((f) => f.distance === best).map((f) => f.name);
  return names.sort().slice(0, 3);
}

/** `did you mean "temperature"?`, or undefined when nothing is near. */
export function didYouMean(name: string, candidates: Iterable<string>): string | undefined {
  const names = nearest(name, candidates);
  if (names.length === 0) return undefined;
  return `did you mean ${names.map((n) => `"${n}"`).join(" or ")}?`;
}

/** `a, b, c`; past twelve names the rest is counted and `more` says where to see it. */
export function listNames(names: readonly string[], more = "dataflex-mq components"): string {
  if (names.length === 0) return "none";
  if (names.length <= MAX_LISTED) return names.join(", ");
  return `${names.slice(0, MAX_LISTED).join(", ")} and ${names.length - MAX_LISTED} more (${more})`;
}

/** Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, before[j - 2]! + 1);
      row.push(best);
    }
    before = previous;
    previous = row;
  }
  return previous[b.length]!;
}
