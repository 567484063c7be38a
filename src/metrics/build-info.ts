import { readFileSync } from "node:fs";
import { PROTOCOL_VERSIONS } from "../protocol/messages.js";
import { VERSION } from "../version.js";
import type { MetricRole } from "./definitions.js";
import type { Meter } from "./meter.js";

/** Exact versions, as our own package.json pins them: other packages' manifests may not be importable. */
function dependencies(): Readonly<Record<string, string>> {
  for (const up of ["../../package.json", "../../../package.json"]) {
    try {
      const text = readFileSync(new URL(up, import.meta.url), "utf8");
      const body = JSON.parse(text) as { name?: string; dependencies?: Record<string, string> };
      if (body.name === "dataflex-mq") return body.dependencies ?? {};
    } catch {
      // Sources and build lie at different depths: the other one will be there.
    }
  }
  return {};
}

export function setBuildInfo(meter: Meter, role: MetricRole): void {
  const versions = dependencies();
  const labels = {
    version: VERSION,
    role,
    node: process.versions.node,
    bullmq: versions.bullmq ?? "unknown",
    tfjs: versions["@tensorflow/tfjs-core"] ?? "unknown",
    protocol: String(Math.max(...PROTOCOL_VERSIONS)),
  };
  meter.set("dataflex_build_info", labels, 1);
}
