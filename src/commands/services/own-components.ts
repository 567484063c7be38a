import { defined } from "../../defined.js";
import type { Catalogue } from "../../mounting/catalogue/catalogue-entry.js";
import { workerCatalogues } from "../../mounting/catalogue/worker-catalogues.js";
import { splitPlugins } from "../../worker/python/plugin-files.js";
import type { PythonSettings } from "../../worker/python/python-slots.js";
import type { ServiceOptions } from "./service-options.js";

/** Custom components, and how those in Python are run. */
export type OwnComponents = Pick<
  ServiceOptions,
  "plugin" | "python" | "device" | "pythonMemoryMb" | "pythonStartMs" | "watch"
>;

/** How a worker runs Python files, from a command's options. */
export function pythonSettings(o: OwnComponents): PythonSettings {
  return defined({
    python: o.python,
    device: o.device,
    memoryMb: o.pythonMemoryMb,
    startLimitMs: o.pythonStartMs,
  });
}

/** What a worker with these plugins registers; the last catalogue holds everything. @throws DataflexError PLUGIN. */
export async function ownCatalogues(own: OwnComponents): Promise<Catalogue[]> {
  const { modules, python } = splitPlugins(own.plugin ?? []);
  if (python.length === 0) return workerCatalogues(modules);
  // Loaded only if there are Python files.
  const [{ declaredBy }, { createLogger }] = await Promise.all([
    import("../../worker/python/python-slots.js"),
    import("../../log.js"),
  ]);
  return workerCatalogues(modules, await declaredBy(python, createLogger("plugin"), pythonSettings(own)));
}
