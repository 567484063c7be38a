import { readFileSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createJiti } from "jiti";
import { DataflexError } from "../../errors.js";
import { BUILT_INS } from "./catalogue.js";
import { type Component, KINDS } from "./component-types.js";
import { describeThrown, thrownText } from "./thrown-at.js";

export interface LoadedComponents {
  /** Built-ins first, then the plugins' in the order given. */
  readonly components: readonly Component[];
  /** The source text that a plugin's component came from; undefined for built-ins. */
  sourceOf(component: Component): string | undefined;
}

/** A component that another process runs, with its file and what identifies the file's text. */
export interface ForeignComponent {
  readonly component: Component;
  readonly file: string;
  readonly source: string;
}

/**
 * Loads the plugins of a worker: files or packages, TypeScript or JavaScript (through jiti, since Node 20 cannot import `.ts`, and a
 * loose file must find `dataflex-mq` although no node_modules lies beside it). Every exported component is registered.
 * No compiled code is cached on disk: from a folder that others may write to, their code could be run.
 * The same in the main and the compute threads, which is what makes their catalogues equal. `foreign` components join them.
 *
 * @throws DataflexError PLUGIN naming the plugin: it is not found, raises at import, exports no component, or a name is taken.
 */
export async function loadComponents(
  plugins: readonly string[],
  foreign: readonly ForeignComponent[] = [],
): Promise<LoadedComponents> {
  const sources = new Map<Component, string>();
  const components: Component[] = [...BUILT_INS];
  const owners = new Map(BUILT_INS.map((component) => [keyOf(component), "a built-in"]));
  const add = (plugin: string, component: Component, source: string): void => {
    const owner = owners.get(keyOf(component));
    if (owner !== undefined) throw taken(plugin, component, owner);
    owners.set(keyOf(component), `plugin "${plugin}"`);
    sources.set(component, source);
    components.push(component);
  };
  for (const plugin of plugins) {
    const { file, source } = locate(plugin);
    for (const component of await importComponents(plugin, file)) add(plugin, component, source);
  }
  for (const { component, file, source } of foreign) add(file, component, source);
  return { components, sourceOf: (component) => sources.get(component) };
}

const keyOf = ({ kind, name }: Component): string => `${kind} ${name}`;

function taken(plugin: string, { kind, name }: Component, owner: string): DataflexError {
  const other = owner === `plugin "${plugin}"` ? "itself" : owner;
  return new DataflexError(
    "PLUGIN",
    `plugin "${plugin}" defines the ${kind} '${name}', which ${other} defines already: rename one, names are unique per kind`,
    { plugin, kind, name },
  );
}

const HERE = fileURLToPath(import.meta.url);
/** Inside a plugin `dataflex-mq` is this very build; otherwise its components would belong to another copy. */
const SELF = new URL(HERE.endsWith(".ts") ? "../../index.ts" : "../../index.js", import.meta.url).href;

function locate(plugin: string): { file: string; source: string } {
  const looksLikeFile = isAbsolute(plugin) || /^\.{1,2}[\\/]|\.[cm]?[jt]s$/.test(plugin);
  try {
    const file = looksLikeFile
      ? resolve(plugin)
      : createJiti(pathToFileURL(resolve("plugin.js")).href, { fsCache: false })
          .esmResolve(plugin)
          .replace(/^file:\/\//, "");
    return { file, source: readFileSync(file, "utf8") };
  } catch (cause) {
    throw new DataflexError(
      "PLUGIN",
      `plugin "${plugin}" cannot be found. Name a file (./scorer.ts) or an installed package`,
      { plugin },
      { cause },
    );
  }
}

async function importComponents(plugin: string, file: string): Promise<Component[]> {
  let exported: Record<string, unknown>;
  try {
    const virtualModules = { "dataflex-mq": await import(SELF) };
    const jiti = createJiti(import.meta.url, { virtualModules, moduleCache: false, fsCache: false });
    exported = await printingToStderr(() => jiti.import(file));
  } catch (cause) {
    const found = describeThrown(cause);
    throw new DataflexError(
      "PLUGIN",
      `plugin "${plugin}" raised ${thrownText(found)} at import`,
      { plugin, ...found },
      { cause },
    );
  }
  const found = [...new Set(Object.values(exported))].filter(looksLikeComponent);
  if (found.length === 0) {
    throw new DataflexError(
      "PLUGIN",
      `plugin "${plugin}" exports no component: export what defineScorer, defineReweighter, defineSelector, defineMixer or definePolicy return`,
      { plugin },
    );
  }
  const handmade = found.find((component) => !isDefined(component));
  if (handmade !== undefined) {
    const { kind, name } = handmade;
    throw new DataflexError(
      "PLUGIN",
      `plugin "${plugin}" exports the ${kind} '${name}' as a plain object: make it with define${kind[0]!.toUpperCase()}${kind.slice(1)}`,
      { plugin, kind, name },
    );
  }
  return found;
}

/** stdout is for results, not for what a plugin prints. */
async function printingToStderr<T>(body: () => Promise<T>): Promise<T> {
  const { write } = process.stdout;
  process.stdout.write = process.stderr.write.bind(process.stderr);
  try {
    return await body();
  } finally {
    process.stdout.write = write;
  }
}

function looksLikeComponent(value: unknown): value is Component {
  if (typeof value !== "object" || value === null) return false;
  const { kind, name } = value as { kind?: unknown; name?: unknown };
  return (KINDS as readonly unknown[]).includes(kind) && typeof name === "string";
}

/** `define*` fills these in; without them the rest of the system would fail with an obscure error. */
function isDefined({ needs, params }: Component): boolean {
  return Array.isArray(needs) && typeof params?.safeParse === "function";
}
