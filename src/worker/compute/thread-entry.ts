import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { DataflexError } from "../../errors.js";
import { catalogueOf } from "../../mounting/catalogue/catalogue-entry.js";
import { setBackend, tensorUse } from "../../scoring/batch/tensor-backend.js";
import { foreignComponents } from "../../scoring/components/foreign.js";
import { loadComponents } from "../../scoring/components/load-plugins.js";
import { createRegistry } from "../../scoring/components/registry.js";
import { changedText } from "../changed-text.js";
import { PythonCalls } from "../python/python-calls.js";
import { PythonLink } from "../python/python-link.js";
import { openBackend } from "./backend.js";
import { boundFailure, boundStack } from "./bounded-failure.js";
import { watchIntrinsics } from "./intrinsics.js";
import { scoreStep } from "./score-step.js";
import type { ComputeReply, ComputeRequest, ComputeSetup, Knock, PythonNews } from "./thread-messages.js";

/** Compute thread, or child process for a native backend: takes requests one by one, answers each with a result or a typed failure. */
const setup: ComputeSetup = isMainThread ? JSON.parse(process.argv[2] ?? "{}") : workerData;

function reply(message: ComputeReply, transfer: ArrayBuffer[] = []): void {
  if (parentPort) parentPort.postMessage(message, transfer);
  else process.send?.(message);
}

async function main(): Promise<void> {
  const backend = await openBackend(setup.backend);
  setBackend(backend.use);
  const link = new PythonLink((inside) => reply({ kind: "python", inside }));
  const calls = new PythonCalls(link);
  const ofRows = foreignComponents(setup.python, calls, "row");
  const ofTokens = foreignComponents(setup.python, calls, "token");
  const changed = watchIntrinsics();
  const { components, sourceOf } = await loadComponents(setup.plugins, ofRows);
  const spoiled = changed();
  if (spoiled !== undefined)
    throw new DataflexError("PLUGIN", spoiledText(`plugin ${setup.plugins.join(", ")}`, spoiled));
  if (setup.plugins.length > 0) refuseOthers(catalogueOf(components, { prefix: "plugin", sourceOf }).fingerprint);
  const tokenForm = new Map(ofRows.map(({ component }, i) => [component, ofTokens[i]!.component]));
  const registries = {
    row: createRegistry(components),
    token: createRegistry(components.map((component) => tokenForm.get(component) ?? component)),
  };

  const onRequest = async (request: ComputeRequest | PythonNews | Knock): Promise<void> => {
    if ("knock" in request) return reply({ kind: "free", knock: request.knock });
    if ("python" in request) return link.setState(request.python);
    try {
      const registry = registries[request.spec.granularity === "token" ? "token" : "row"];
      calls.begin(request.spec, registry);
      const computed = await scoreStep(request, registry);
      if (changed() !== undefined) throw new Error("spoiled");
      const { memory } = calls;
      reply({ kind: "result", id: request.id, ...computed, tensors: await tensorUse(), ...(memory && { memory }) }, [
        computed.body.buffer as ArrayBuffer,
      ]);
    } catch (error) {
      const what = changed();
      if (what !== undefined) {
        // Whatever was thrown may come of it, and nothing here can be relied upon any more.
        const who = `a component of this pipeline (${request.spec.scorer?.name ?? "none"}, ${request.spec.actuator.name})`;
        const failure = { code: "COMPONENT", message: spoiledText(who, what), details: { changed: what } } as const;
        reply({ kind: "failure", id: request.id, failure });
        return process.exit(0);
      }
      const failed = DataflexError.from(error, "COMPONENT");
      const stack = failed.cause instanceof Error ? failed.cause.stack : undefined;
      const failure = boundFailure(failed.toFailure());
      reply({ kind: "failure", id: request.id, failure, ...(stack && { stack: boundStack(stack) }) });
    }
  };
  if (parentPort) parentPort.on("message", onRequest);
  else {
    process.on("message", onRequest);
    process.on("disconnect", () => process.exit(0));
  }
  reply({ kind: "ready", backend: backend.name });
}

const spoiledText = (who: string, what: string): string =>
  `${who} changes ${what}, which all code of the thread shares: keep it to objects of its own`;

/** A file that was changed meanwhile would be another component under a known name. */
function refuseOthers(fingerprint: string): void {
  if (fingerprint === setup.fingerprint) return;
  const files = setup.plugins.join(", ");
  throw new DataflexError("PLUGIN", changedText(files), { files: setup.plugins });
}

main().catch((error) => {
  reply({ kind: "refused", failure: DataflexError.from(error, "INTERNAL").toFailure() });
});
