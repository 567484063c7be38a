import { readFileSync } from "node:fs";

/** The package's version; its package.json lies above `dist/src` and `src` alike. */
export const VERSION: string = readVersion();

function readVersion(): string {
  for (const up of ["../package.json", "../../package.json"]) {
    try {
      const body = JSON.parse(readFileSync(new URL(up, import.meta.url), "utf8")) as {
        name?: string;
        version?: string;
      };
      if (body.name === "dataflex-mq" && body.version) return body.version;
    } catch {}
  }
  return "0.0.0";
}
