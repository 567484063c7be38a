/** Why a thread or process that starts again is refused: under a running worker its files have become other components. */
export function changedText(files: string): string {
  return `a plugin's text has changed since this worker started: restart the worker, or start it with --watch (${files})`;
}
