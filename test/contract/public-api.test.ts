import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const SRC = fileURLToPath(new URL("../../src/", import.meta.url));
const data = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;

/** Addresses of every module that importing `entry` resolves, reported by a loader hook of the child process. */
function modulesOf(entry: string): string {
  const hook =
    "export async function resolve(s, c, n) { const r = await n(s, c); process._rawDebug(r.url); return r; }";
  const register = `import { register } from "node:module"; register(${JSON.stringify(data(hook))});`;
  const args = ["--import", "tsx", "--import", data(register), "--input-type=module", "-e"];
  const run = spawnSync(process.execPath, [...args, `await import(${JSON.stringify(entry)})`], {
    encoding: "utf8",
    cwd: fileURLToPath(new URL("../../", import.meta.url)),
  });
  expect(run.status, run.stderr.slice(-2000)).toBe(0);
  expect(run.stderr).toContain(entry);
  return run.stderr;
}

it("the client and the component API load no queue, server or tensor package", () => {
  const loaded = modulesOf(`file://${SRC}index.ts`);
  for (const name of ["bullmq", "fastify", "@tensorflow"]) expect(loaded).not.toContain(`/node_modules/${name}/`);
});

it("the test helpers load no Redis, and tensors only when one is asked for", () => {
  const loaded = modulesOf(`file://${SRC}testing.ts`);
  for (const name of ["ioredis", "bullmq", "fastify", "@tensorflow"]) {
    expect(loaded).not.toContain(`/node_modules/${name}/`);
  }
});

describe("a built-in component uses nothing that a user's own could not", () => {
  const COMPONENTS = join(SRC, "scoring/components");
  /** What makes components known to the system; everything else in the folder is components and what they share. */
  const FRAMEWORK = ["define.ts", "component-types.ts", "needs.ts", "registry.ts", "catalogue.ts"];
  const index = readFileSync(join(SRC, "index.ts"), "utf8");
  const exported = (name: string) => new RegExp(`\\b${name}\\b`).test(index);
  const importsOf = (file: string) =>
    [...readFileSync(join(COMPONENTS, file), "utf8").matchAll(/import (?:type )?\{([^}]*)\} from "(\.[^"]+)"/g)].map(
      (found) => ({
        names: found[1]!
          .split(",")
          .map((part) => part.replace("type ", "").trim())
          .filter(Boolean),
        target: relative(COMPONENTS, resolve(COMPONENTS, dirname(file), found[2]!)).replace(/\.js$/, ".ts"),
      }),
    );
  const isShared = (target: string) => !target.startsWith("..") && !FRAMEWORK.includes(target);
  const files = new Set(
    ["scorers", "reweighters", "selectors"].flatMap((kind) =>
      readdirSync(join(COMPONENTS, kind)).map((file) => join(kind, file)),
    ),
  );
  // What components share is held to the same rule: a user's component could bring it along.
  for (const file of files) for (const { target } of importsOf(file)) if (isShared(target)) files.add(target);

  it.each([...files])("%s", (file) => {
    const foreign = importsOf(file).filter(({ target }) => !isShared(target));
    expect(foreign.flatMap(({ names }) => names).filter((name) => !exported(name))).toEqual([]);
  });
});
