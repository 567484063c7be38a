import { drawInt, type Rng } from "../../scoring/batch/rng.js";

/** Symbols a task and its answer are made of: `0 … SYMBOLS - 1`. The end symbol is the action after them. */
export const SYMBOLS = 4;
export const END = SYMBOLS;

/** Kinds of task, which are also the rows' domains: what each next symbol is, given the one before it. */
export const TASK_KINDS = ["copy", "successor", "swap"] as const;
type TaskKind = (typeof TASK_KINDS)[number];

/** Difficulty is the number of symbols to answer: the longer the answer, the rarer a lucky guess. */
export const ANSWER_LENGTHS = [1, 2, 3] as const;

/** A prompt: continue from `start` by the rule of `kind` for `length` symbols, then end. */
export interface Task {
  readonly kind: TaskKind;
  readonly length: number;
  readonly start: number;
}

const NEXT = {
  copy: (symbol) => symbol,
  successor: (symbol) => (symbol + 1) % SYMBOLS,
  swap: (symbol) => symbol ^ 1,
} as const satisfies Record<TaskKind, (symbol: number) => number>;

/** The one right answer, without the end symbol. */
export function answerTo(task: Task): number[] {
  const answer: number[] = [];
  let symbol = task.start;
  for (let i = 0; i < task.length; i++) {
    symbol = NEXT[task.kind](symbol);
    answer.push(symbol);
  }
  return answer;
}

/** Reward of a response (symbols, the end symbol included): 1 if it is the answer and then ends, else 0. */
export function grade(task: Task, response: readonly number[]): 0 | 1 {
  const expected = [...answerTo(task), END];
  const right = response.length === expected.length && expected.every((symbol, i) => response[i] === symbol);
  return right ? 1 : 0;
}

/** `count` tasks, uniform over kinds, lengths and start symbols. */
export function drawTasks(rng: Rng, count: number): Task[] {
  return Array.from({ length: count }, () => ({
    kind: TASK_KINDS[drawInt(rng, TASK_KINDS.length)]!,
    length: ANSWER_LENGTHS[drawInt(rng, ANSWER_LENGTHS.length)]!,
    start: drawInt(rng, SYMBOLS),
  }));
}
