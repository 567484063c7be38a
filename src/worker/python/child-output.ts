import type { Readable } from "node:stream";

/** Lines that are passed on per second; what a plugin prints beyond that is only counted. */
const LINES_A_SECOND = 100;
const LINE_LENGTH = 2_000;
/** How many lines are kept for reporting a crash. */
const LAST_LINES = 60;

/** Passes on what a process prints, line by line at a limited rate, and remembers the last lines. The stream is always drained. */
export class ChildOutput {
  readonly #print: (line: string) => void;
  readonly #now: () => number;
  #last: string[] = [];
  #partial = "";
  #second = 0;
  #printed = 0;
  #left = 0;

  constructor(stream: Readable, print: (line: string) => void, now: () => number = () => performance.now()) {
    this.#print = print;
    this.#now = now;
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => this.#take(text));
    stream.on("end", () => {
      if (this.#partial !== "") this.#line(this.#partial);
      this.#report();
    });
  }

  /** The last lines, oldest first. */
  get last(): readonly string[] {
    return this.#last;
  }

  /** Forgets the lines so far: they do not explain what comes next. */
  forget(): void {
    this.#last = [];
  }

  #take(text: string): void {
    const lines = (this.#partial + text).split(/\r?\n|\r/);
    this.#partial = lines.pop()!.slice(0, LINE_LENGTH + 1);
    for (const line of lines) this.#line(line);
  }

  #line(text: string): void {
    if (text.trim() === "") return;
    const line = text.length > LINE_LENGTH ? `${text.slice(0, LINE_LENGTH)}…` : text;
    this.#last.push(line);
    if (this.#last.length > LAST_LINES) this.#last.shift();
    const second = Math.floor(this.#now() / 1_000);
    if (second !== this.#second) {
      this.#report();
      this.#second = second;
      this.#printed = 0;
    }
    if (this.#printed++ < LINES_A_SECOND) this.#print(line);
    else if (this.#left++ === 0) setTimeout(() => this.#report(), 1_000).unref();
  }

  #report(): void {
    if (this.#left > 0)
      this.#print(`… ${this.#left} more lines were left out: ${LINES_A_SECOND} a second are passed on`);
    this.#left = 0;
  }
}
