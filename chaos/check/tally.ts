/** How a step ended. */
export type Verdict = "right" | "wrong" | "hung" | "lost" | "doubled" | "left over";
const VERDICTS: readonly Verdict[] = ["right", "wrong", "hung", "lost", "doubled", "left over"];

/** How many examples of a bad verdict are printed. */
const EXAMPLES = 10;

/** Counts of how steps ended. */
export class Tally {
  readonly #verdicts = new Map<Verdict, number>(VERDICTS.map((verdict) => [verdict, 0]));
  readonly #refused = new Map<string, number>();
  readonly #examples: string[] = [];
  /** Steps whose mixer had forgotten earlier steps because Redis lost data. */
  forgot = 0;
  resumed = 0;

  add(verdict: Verdict, example?: string): void {
    this.#verdicts.set(verdict, this.count(verdict) + 1);
    if (example !== undefined) this.#examples.push(`${verdict}: ${example}`);
  }
  /** A typed refusal that an event explains, or that the caller's short timeout invited. */
  refuse(code: string): void {
    this.#refused.set(code, (this.#refused.get(code) ?? 0) + 1);
  }

  count(verdict: Verdict): number {
    return this.#verdicts.get(verdict) ?? 0;
  }
  get ended(): number {
    return this.count("right") + this.count("wrong") + this.count("hung") + this.count("lost");
  }
  get clean(): boolean {
    return VERDICTS.every((verdict) => verdict === "right" || this.count(verdict) === 0);
  }

  progress(): string {
    return VERDICTS.map((verdict) => `${verdict} ${this.count(verdict)}`).join(" · ");
  }

  table(): string {
    const refused = [...this.#refused].map(([code, n]) => `${code} ${n}`).join(", ") || "none";
    const lines = VERDICTS.map((verdict) => `  ${verdict.padEnd(10)} ${this.count(verdict)}`);
    const shown = this.#examples.slice(0, EXAMPLES);
    const more = this.#examples.length - shown.length;
    return [
      ...lines,
      `  refused    ${refused}  (and done again)`,
      `  resumed    ${this.resumed}  trainers, from a checkpoint`,
      `  forgot     ${this.forgot}  steps whose mixer's history went with Redis' data`,
      ...shown.map((example) => `- ${example}`),
      ...(more > 0 ? [`- and ${more} more`] : []),
    ].join("\n");
  }
}
