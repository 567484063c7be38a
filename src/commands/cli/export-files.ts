import { constants } from "node:fs";
import { lstat, mkdir, readdir, readFile, stat, unlink, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { DataflexError } from "../../errors.js";

/** What can be exported, and the folder of the package's `config/` that holds it. */
export const EXPORTS = { dashboards: "grafana", alerts: "prometheus" } as const;

export interface ExportedFile {
  readonly file: string;
  /** False: the same file was already there. */
  readonly written: boolean;
}

/** Copies a folder of the package. @throws DataflexError USAGE naming the files that differ, before anything is written. */
export async function exportFiles(what: keyof typeof EXPORTS, out: string, force: boolean): Promise<ExportedFile[]> {
  const from = join(await configFolder(), EXPORTS[what]);
  const entries = await readdir(from, { recursive: true, withFileTypes: true });
  const sources = entries
    .filter((e) => e.isFile())
    .map((e) => join(e.parentPath, e.name))
    .sort();
  const plans = await Promise.all(
    sources.map(async (source) => {
      const file = join(out, relative(from, source));
      const body = await readFile(source);
      const there = await readIfThere(out, file);
      return { file, body, same: there?.equals(body) === true, differs: there !== undefined && !there.equals(body) };
    }),
  );
  const differing = plans.filter((p) => p.differs).map((p) => p.file);
  if (differing.length > 0 && !force) {
    throw new DataflexError(
      "USAGE",
      `${differing.length} file(s) are there with other contents: ${differing.slice(0, 5).join(", ")}. Replace them with --force, or name another folder with --out`,
      { files: differing },
    );
  }
  for (const { file, body, same } of plans) {
    if (same) continue;
    try {
      await makeFolder(dirname(file));
      // A link is replaced, never followed: what it names is not ours to write to.
      if ((await lstat(file).catch(() => undefined))?.isSymbolicLink()) await unlink(file);
      await writeFile(file, body, {
        flag: constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW,
      });
    } catch (error) {
      throw refusal("write", file, error);
    }
  }
  return plans.map(({ file, same }) => ({ file, written: !same }));
}

/** A link below `out` counts as other contents, wherever it leads. */
async function readIfThere(out: string, file: string): Promise<Buffer | undefined> {
  try {
    for (let path = dirname(file); path.length > out.length && path !== "."; path = dirname(path)) {
      if ((await lstat(path).catch(() => undefined))?.isSymbolicLink())
        throw new DataflexError(
          "USAGE",
          `${path} is a link, and nothing is written through links. Name another folder with --out`,
          {
            file: path,
          },
        );
    }
    return (await lstat(file)).isFile() ? await readFile(file) : Buffer.from("another kind of file");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error instanceof DataflexError ? error : refusal("read", file, error);
  }
}

/** Each folder after its parent: Node's own recursive `mkdir` never ends where a file system cannot hold folders (/proc). */
async function makeFolder(folder: string): Promise<void> {
  if ((await stat(folder).catch(() => undefined))?.isDirectory()) return;
  if (dirname(folder) !== folder) await makeFolder(dirname(folder));
  await mkdir(folder);
}

function refusal(what: "read" | "write", file: string, error: unknown): DataflexError {
  const reason = (error as NodeJS.ErrnoException).code ?? String(error);
  return new DataflexError("USAGE", `cannot ${what} ${file} (${reason}). Name another folder with --out`, { file });
}

/** `config/` at the package's root: three folders up from the sources, four from the build. */
async function configFolder(): Promise<string> {
  for (const path of ["../../../config/", "../../../../config/"]) {
    const folder = fileURLToPath(new URL(path, import.meta.url));
    if (((await readdir(folder).catch(() => [])) as string[]).includes("default.yaml")) return folder;
  }
  throw new DataflexError("INTERNAL", "the package's config folder is missing; install the package again");
}
