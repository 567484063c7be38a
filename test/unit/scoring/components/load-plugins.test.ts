import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createJiti } from "jiti";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { loadComponents } from "../../../../src/scoring/components/load-plugins.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dfx-load-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const plugin = (name: string): string =>
  `import { defineScorer, z } from "dataflex-mq";
export const s = defineScorer({ name: "${name}", stage: "post_reward", requires: ["rm_scores"], params: z.strictObject({}), doc: "" as never,
  score: (batch) => batch.numbers("rm_scores") as never });\n`;

test("what another user planted in the compiler's cache never runs, and nothing is written there", async () => {
  const file = join(folder, "mine.ts");
  const cache = join(folder, "cache");
  writeFileSync(file, plugin("mine"));
  // The compiler's own cache, as it lies in a shared folder, with other code under the name that this file's would have.
  const self = new URL("../../../../src/index.ts", import.meta.url).pathname;
  const caching = createJiti(import.meta.url, { alias: { "dataflex-mq": self }, moduleCache: false, fsCache: cache });
  await caching.import(file);
  const [entry] = readdirSync(cache);
  const planted = join(cache, entry!);
  writeFileSync(planted, readFileSync(planted, "utf8").replaceAll('"mine"', '"planted"'));
  expect(Object.keys((await caching.import(file)) as object)).toEqual(["s"]);
  vi.stubEnv("JITI_FS_CACHE", "true");
  vi.stubEnv("TMPDIR", folder);
  const { components } = await loadComponents([file]);
  expect(components.map(({ name }) => name)).toContain("mine");
  expect(readdirSync(folder).sort()).toEqual(["cache", "mine.ts"]);
});

test("a text that changed is compiled anew", async () => {
  const file = join(folder, "mine.ts");
  for (const name of ["one", "two"]) {
    writeFileSync(file, plugin(name));
    expect((await loadComponents([file])).components.at(-1)?.name).toBe(name);
  }
});
