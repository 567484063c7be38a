import { basename } from "node:path";
import { fileURLToPath } from "node:url";

/** Type and text of what a component threw, with the place in its author's code. */
export interface Thrown {
  readonly exception: string;
  readonly text: string;
  readonly file?: string;
  readonly line?: number;
}

/** Our own code, built or not. */
const OWN = fileURLToPath(new URL("../../", import.meta.url));
/** What a message may hold of it. */
const TEXT_LENGTH = 2_000;

export function describeThrown(thrown: unknown): Thrown {
  if (!(thrown instanceof Error)) return { exception: typeof thrown, text: String(thrown).slice(0, TEXT_LENGTH) };
  return { exception: thrown.name, text: thrown.message.slice(0, TEXT_LENGTH), ...placeOf(thrown) };
}

/** `TypeError: scores is undefined (mine.ts, line 7)`. */
export function thrownText({ exception, text, file, line }: Thrown): string {
  return `${exception}${text === "" ? "" : `: ${text}`}${file === undefined ? "" : placeText({ file, line })}`;
}

export function placeText({ file, line }: { readonly file: string; readonly line?: number | undefined }): string {
  return ` (${basename(file)}, line ${line})`;
}

/** The innermost frame of the author's: not of this package, nor of Node; of a package that the author uses only where there is no other. */
export function placeOf(thrown: Error): { file: string; line: number } | undefined {
  const frames = [...(thrown.stack ?? "").matchAll(/^ +at (?:.*?\()?(?:file:\/\/)?(\/[^\n]*?):(\d+)(?::\d+)?\)?$/gm)]
    .map(([, file, line]) => ({ file: file!, line: Number(line) }))
    .filter(({ file }) => !file.startsWith(OWN));
  return frames.find(({ file }) => !file.includes("/node_modules/")) ?? frames[0];
}
