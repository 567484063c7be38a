import { DataflexError } from "../../errors.js";
import type { Check } from "../../redis/finding.js";
import { openBackend } from "../../worker/compute/backend.js";
import { BACKENDS, type Backend } from "../../worker/compute/thread-messages.js";
import { probePython } from "../../worker/python/python-slots.js";
import { type OwnComponents, pythonSettings } from "../services/own-components.js";

const NODE = [20, 19] as const;

export function nodeFinding(version: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const name = "node";
  if (major > NODE[0] || (major === NODE[0] && minor >= NODE[1])) return { name, level: "ok", text: version };
  return { name, level: "critical", text: `${version} is too old`, fix: `install Node ${NODE.join(".")} or newer` };
}

/** Opens every backend. One that is not installed is worth a note, unless it is `wanted`. */
export async function backendFindings(wanted: Backend | undefined): Promise<Check[]> {
  const found: Check[] = [];
  for (const backend of BACKENDS.filter((b) => b !== "auto")) found.push(await tryBackend(backend, backend === wanted));
  return found;
}

/** Whether Python plugins could run here, and on which device. Where nobody asks for them, a missing interpreter is only worth a note. */
export async function pythonFinding(o: OwnComponents): Promise<Check> {
  const name = "python";
  const wanted = o.python !== undefined || o.device !== undefined || process.env.DFX_PYTHON !== undefined;
  try {
    const { python, package: version, torch, device } = await probePython(pythonSettings(o));
    const parts = [python, `dataflex_mq ${version}`, ...(torch === null ? [] : [`torch ${torch}`])];
    const where = `${device.name}${device.model === "" ? "" : ` (${device.model})`}`;
    const text = `${parts.join(", ")}, would compute on ${where}`;
    if (device.reason === "") return { name, level: "ok", text };
    const fix = "install a torch built for CUDA";
    return { name, level: "warning", text: `${text}, although a GPU is visible: ${device.reason}`, fix };
  } catch (thrown) {
    return { name, level: wanted ? "critical" : "note", text: DataflexError.from(thrown).message };
  }
}

async function tryBackend(backend: Backend, wanted: boolean): Promise<Check> {
  const name = `backend ${backend}`;
  try {
    await openBackend(backend);
    return { name, level: "ok", text: "works" };
  } catch (thrown) {
    const { message } = DataflexError.from(thrown);
    const reason = message.replace(/^.*cannot be used: /, "");
    const [text, fix] = reason.split(". Install it ", 2);
    return {
      name,
      level: wanted ? "critical" : "note",
      text: text ?? reason,
      ...(fix !== undefined && { fix: `install it ${fix}` }),
    };
  }
}
