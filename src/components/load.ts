import { readFileSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createJiti } from "jiti";
import { DataflexError } from "../errors.js";
import { BUILT_INS } from "./catalogue.js";
import { createRegistry } from "./registry.js";
import { type Component, KINDS } from "./types.js";

export interface LoadedComponents {
  /** Built-ins first, then the plugins' in the order given. */
  readonly components: readonly Component[];
  /** The source text that a plugin's component came from; undefined for built-ins. */
  sourceOf(component: Component): string | undefined;
}

/**
 * Loads the plugins of a worker: files or packages, TypeScript or JavaScript (through jiti, since Node 20 cannot import `.ts`, and a
 * loose file must find `dataflex-mq` although no node_modules lies beside it). Every exported component is registered.
 * The same in the main and the compute threads, which is what makes their catalogues equal.
 *
 * @throws DataflexError COMPONENT naming the plugin: it throws at import, exports no component, or a name is taken.
 */
export async function loadComponents(plugins: readonly string[]): Promise<LoadedComponents> {
  const sources = new Map<Component, string>();
  const components: Component[] = [...BUILT_INS];
  for (const plugin of plugins) {
    const { file, source } = locate(plugin);
    const found = await importComponents(plugin, file);
    for (const component of found) sources.set(component, source);
    components.push(...found);
  }
  createRegistry(components);
  return { components, sourceOf: (component) => sources.get(component) };
}

const HERE = fileURLToPath(import.meta.url);
/** `dataflex-mq` inside a plugin is this very build, or its components would be another copy's. */
const SELF = {
  "dataflex-mq": fileURLToPath(new URL(HERE.endsWith(".ts") ? "../index.ts" : "../index.js", import.meta.url)),
};

function locate(plugin: string): { file: string; source: string } {
  const looksLikeFile = isAbsolute(plugin) || /^\.{1,2}[\\/]|\.[cm]?[jt]s$/.test(plugin);
  try {
    const file = looksLikeFile
      ? resolve(plugin)
      : createJiti(pathToFileURL(resolve("plugin.js")).href)
          .esmResolve(plugin)
          .replace(/^file:\/\//, "");
    return { file, source: readFileSync(file, "utf8") };
  } catch (cause) {
    throw new DataflexError(
      "COMPONENT",
      `plugin "${plugin}" cannot be found. Name a file (./scorer.ts) or an installed package`,
      { plugin },
      { cause },
    );
  }
}

async function importComponents(plugin: string, file: string): Promise<Component[]> {
  let exported: Record<string, unknown>;
  try {
    exported = await createJiti(import.meta.url, { alias: SELF, moduleCache: false }).import(file);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new DataflexError("COMPONENT", `plugin "${plugin}" throws at import: ${reason}`, { plugin }, { cause });
  }
  const found = [...new Set(Object.values(exported))].filter(isComponent);
  if (found.length === 0) {
    throw new DataflexError(
      "COMPONENT",
      `plugin "${plugin}" exports no component: export what defineScorer, defineReweighter, defineSelector, defineMixer or definePolicy return`,
      { plugin },
    );
  }
  return found;
}

function isComponent(value: unknown): value is Component {
  const kind = (value as { kind?: unknown } | null)?.kind;
  return (
    typeof value === "object" &&
    (KINDS as readonly unknown[]).includes(kind) &&
    typeof (value as { name?: unknown }).name === "string"
  );
}
