import { type ForeignDeclaration, foreignComponents } from "../../scoring/components/foreign.js";
import { builtinCatalogue } from "./builtin.js";
import { type Catalogue, catalogueOf } from "./catalogue-entry.js";

/**
 * The catalogue of a worker that is started with these plugins: the built-ins, and beside them the plugins' components and those that
 * Python files declare, so that they can be combined. Its fingerprint is the worker's.
 * @throws DataflexError PLUGIN naming the plugin that cannot be loaded.
 */
async function catalogueWith(
  plugins: readonly string[],
  declared: readonly ForeignDeclaration[] = [],
): Promise<Catalogue> {
  if (plugins.length + declared.length === 0) return builtinCatalogue();
  // The TypeScript loader is imported only if there is something to load.
  const { loadComponents } = await import("../../scoring/components/load-plugins.js");
  const { components, sourceOf } = await loadComponents(plugins, foreignComponents(declared));
  return catalogueOf(components, { prefix: "plugin", sourceOf });
}

/** What a worker with these plugins registers: the built-ins, which all workers have, and a second catalogue that holds its plugins as well. */
export async function workerCatalogues(
  plugins: readonly string[],
  declared: readonly ForeignDeclaration[] = [],
): Promise<Catalogue[]> {
  const builtin = builtinCatalogue();
  return plugins.length + declared.length === 0 ? [builtin] : [builtin, await catalogueWith(plugins, declared)];
}
