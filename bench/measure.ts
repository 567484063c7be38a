/** Alternates the candidates, so that a noisy machine is equally noisy to all of them. Answers milliseconds per round. */
export async function interleave(
  rounds: number,
  candidates: Readonly<Record<string, () => unknown>>,
  between: () => unknown = () => {},
): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]));
  for (let round = -2; round < rounds; round++) {
    for (const [name, run] of Object.entries(candidates)) {
      const start = performance.now();
      await run();
      const ms = performance.now() - start;
      if (round >= 0) times[name]!.push(ms);
      await between();
    }
  }
  return times;
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]!;
}

/** One line a candidate: p50, p99, and the ratio of its p50 to that of `base`. */
export function report(title: string, times: Readonly<Record<string, number[]>>, base: string): void {
  console.log(`\n${title}`);
  const reference = quantile(times[base]!, 0.5);
  for (const [name, values] of Object.entries(times)) {
    const [p50, p99] = [quantile(values, 0.5), quantile(values, 0.99)];
    console.log(
      `  ${name.padEnd(28)} p50 ${p50.toFixed(2).padStart(8)} ms   p99 ${p99.toFixed(2).padStart(8)} ms   ${(p50 / reference).toFixed(2)} ×`,
    );
  }
}
