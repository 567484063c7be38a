import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Nothing is loaded from elsewhere, no script runs but our own files, and no site can frame the page. */
export const PAGE_POLICY =
  "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";

export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
}

/** Beside this file in the build; the sources are run by the tests, with the page as built. */
const FOLDERS = ["../page/", "../../../dist/src/observe/page/"].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

const NOT_BUILT = "The page's files are missing from this package. Build them: npm run build\n";

/** The files of the page by their address, read once. A broker whose page was not built does all its other work. */
export function readPageFiles(): ReadonlyMap<string, PageFile> {
  const folder = FOLDERS.find((f) => existsSync(join(f, "page.js")));
  if (folder === undefined)
    return new Map([["/", { type: "text/plain; charset=utf-8", body: Buffer.from(NOT_BUILT) }]]);
  const files = new Map<string, PageFile>();
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const path = name === "index.html" ? "/" : `/page/${name.replaceAll("\\", "/")}`;
    files.set(path, { type, body: readFileSync(join(folder, name)) });
  }
  return files;
}
