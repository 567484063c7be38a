import { accessSync } from "node:fs";
import { resolve } from "node:path";
import { DataflexError } from "../../errors.js";

/** Plugins by what runs them: the ending of the name decides. */
export interface PluginFiles {
  /** TypeScript and JavaScript files, and packages. */
  readonly modules: readonly string[];
  /** Python files, absolute. */
  readonly python: readonly string[];
}

/** @throws DataflexError PLUGIN for a Python file that cannot be read. */
export function splitPlugins(plugins: readonly string[]): PluginFiles {
  const isPython = (plugin: string): boolean => plugin.endsWith(".py");
  return { modules: plugins.filter((plugin) => !isPython(plugin)), python: plugins.filter(isPython).map(readable) };
}

function readable(plugin: string): string {
  const file = resolve(plugin);
  try {
    accessSync(file);
    return file;
  } catch (cause) {
    const message = `plugin "${plugin}" cannot be found. Name a file (./scorer.py)`;
    throw new DataflexError("PLUGIN", message, { plugin }, { cause });
  }
}
