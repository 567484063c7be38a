import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A file in a folder of its own, gone after the test. */
export async function scratchFile(name: string, text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "dfx-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}
