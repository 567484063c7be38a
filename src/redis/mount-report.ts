import { pack } from "../protocol/codec.js";
import type { Handle } from "../protocol/messages.js";
import * as is from "../protocol/shape.js";
import { VERSION } from "../version.js";

/** What a mount reports to the history: the version of the broker that resolved it, and its settings. */
export interface MountReport {
  readonly version: string;
  /** `<pipeline>.<option>` or `composition.<option>` → value as text. */
  readonly settings: Readonly<Record<string, string>>;
}

export const checkMountReport = is.checker<MountReport>(
  "mount report",
  is.keys({ version: is.text, settings: is.mapOf(is.text) }),
);

/** A parameter may be a list of any length. */
const TEXT_LENGTH = 80;
const MOST_SETTINGS = 400;

type Mounted = Pick<Handle, "pipelines" | "composition">;

export const mountReport = (mounted: Mounted): Uint8Array =>
  pack({ version: VERSION, settings: settingsOf(mounted) } satisfies MountReport);

/** Everything that decides a run's weights, flattened, so that two mounts can be compared. */
function settingsOf({ pipelines, composition }: Mounted): Record<string, string> {
  const found: [string, string][] = [];
  for (const { name, fields: _, fingerprint, ...settings } of pipelines) {
    found.push(...flat(name, { ...settings, catalogue: fingerprint }));
  }
  found.push(...flat("composition", composition));
  return Object.fromEntries(found.slice(0, MOST_SETTINGS));
}

function flat(path: string, value: unknown): [string, string][] {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return Object.entries(value).flatMap(([key, inner]) => flat(`${path}.${key}`, inner));
  }
  if (value === undefined) return [];
  return [[path, (typeof value === "string" ? value : JSON.stringify(value)).slice(0, TEXT_LENGTH)]];
}
