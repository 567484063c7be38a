import { existsSync, unwatchFile, watchFile } from "node:fs";
import { resolve } from "node:path";
import { DataflexError } from "../../errors.js";
import type { Logger } from "../../log.js";

/** How often the files are checked: editors save in many ways, and some file systems send no notifications. */
const LOOK_MS = 300;

/** What is reloaded. */
interface Reloadable {
  reload(): Promise<boolean>;
}

/**
 * Reloads a worker's plugins whenever one of their files is saved. A text that cannot be loaded is reported, and the previous one stays.
 * @returns a function that ends the watch.
 * @throws DataflexError USAGE where no plugin is a file.
 */
export function watchPlugins(worker: Reloadable, plugins: readonly string[], log: Logger): () => void {
  const files = plugins.map((plugin) => resolve(plugin)).filter((file) => existsSync(file));
  if (files.length === 0) throw new DataflexError("USAGE", "--watch needs a file to watch: --plugin FILE");
  let again = false;
  let running = false;
  const reload = async (): Promise<void> => {
    again = true;
    if (running) return;
    running = true;
    while (again) {
      again = false;
      try {
        if (await worker.reload()) log.warn({ files }, "the plugins were loaded again");
      } catch (thrown) {
        const { code, message } = DataflexError.from(thrown);
        log.error({ code, err: message }, "the plugins were saved and cannot be loaded: the text before stays");
      }
    }
    running = false;
  };
  const onChange = (now: { readonly mtimeMs: number }): void => {
    // An editor that replaces a file removes it first.
    if (now.mtimeMs !== 0) void reload();
  };
  for (const file of files) watchFile(file, { interval: LOOK_MS, persistent: false }, onChange);
  return () => {
    for (const file of files) unwatchFile(file, onChange);
  };
}
