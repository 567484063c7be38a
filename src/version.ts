import { readFileSync } from "node:fs";

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const manifest = readManifest();

export const VERSION: string = manifest.version ?? "0.0.0";
/** Exact versions as our own package.json pins them: other packages' manifests may not be importable. */
export const DEPENDENCIES: Readonly<Record<string, string>> = manifest.dependencies ?? {};

/** The package's own package.json lies one folder above `src` and two above `dist/src`. */
function readManifest(): Manifest {
  for (const up of ["../package.json", "../../package.json"]) {
    try {
      const body = JSON.parse(readFileSync(new URL(up, import.meta.url), "utf8")) as Manifest;
      if (body.name === "dataflex-mq") return body;
    } catch {}
  }
  return {};
}
