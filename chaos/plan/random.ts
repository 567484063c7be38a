import { seededRng } from "dataflex-mq/testing";

/** Seeded choices: the same words give the same ones on every machine. */
export class Random {
  readonly #next: () => number;

  constructor(...words: readonly (string | number)[]) {
    this.#next = seededRng(...words);
  }

  /** Uniform in [from, to). */
  between(from: number, to: number): number {
    return from + (to - from) * this.#next();
  }
  /** A whole number in [from, to). */
  int(from: number, to: number): number {
    return Math.floor(this.between(from, to));
  }
  chance(share: number): boolean {
    return this.#next() < share;
  }
  pick<T>(from: readonly T[]): T {
    return from[this.int(0, from.length)]!;
  }
  shuffled<T>(values: readonly T[]): T[] {
    const keyed = values.map((value) => ({ value, key: this.#next() }));
    return keyed.sort((a, b) => a.key - b.key).map(({ value }) => value);
  }
}
