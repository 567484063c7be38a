import { PROTOCOL_VERSIONS } from "../../protocol/messages.js";
import { DEPENDENCIES, VERSION } from "../../version.js";
import type { MetricRole } from "./definitions.js";
import type { Meter } from "./meter.js";

export function setBuildInfo(meter: Meter, role: MetricRole): void {
  const labels = {
    version: VERSION,
    role,
    node: process.versions.node,
    bullmq: DEPENDENCIES.bullmq ?? "unknown",
    tfjs: DEPENDENCIES["@tensorflow/tfjs-core"] ?? "unknown",
    protocol: String(Math.max(...PROTOCOL_VERSIONS)),
  };
  meter.set("dataflex_build_info", labels, 1);
}
