import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const SRC = fileURLToPath(new URL("../../src", import.meta.url));

/** Folder → folders it may import (itself always). Leaves are files that anyone may import. */
const LEAVES = ["errors", "lifecycle", "log", "version", "fault-points"];
const MAY_IMPORT: Record<string, readonly string[]> = {
  protocol: [],
  redis: ["protocol"],
  batch: ["protocol"],
  mix: ["protocol"],
  components: ["protocol", "batch", "mix", "index", "config"],
  queue: ["protocol", "redis"],
  pipeline: ["protocol", "batch", "mix", "components"],
  config: ["protocol", "components", "catalogue"],
  catalogue: ["protocol", "components", "config"],
  compute: ["protocol", "batch", "mix", "components", "pipeline"],
  history: ["protocol", "redis"],
  broker: ["protocol", "redis", "queue", "catalogue", "config", "history"],
  worker: ["protocol", "redis", "queue", "catalogue", "components", "mix", "compute"],
  client: ["protocol", "redis", "mix"],
  metrics: ["protocol", "redis", "queue", "broker", "worker", "catalogue", "compute"],
  http: ["metrics"],
  testing: ["protocol", "batch", "mix", "components", "pipeline"],
  status: ["protocol", "redis", "history", "broker"],
  page: [],
  services: ["config", "redis", "broker", "worker", "compute", "http", "metrics", "protocol", "status"],
  replay: ["protocol", "redis", "client", "services", "config", "catalogue"],
  demo: ["protocol", "redis", "client", "services", "config", "catalogue"],
  cli: [
    "protocol",
    "redis",
    "config",
    "catalogue",
    "components",
    "services",
    "replay",
    "demo",
    "compute",
    "status",
    "history",
    "queue",
  ],
};

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
  readonly pkg: boolean;
}

function sources(dir = SRC): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((e) =>
    e.isDirectory() ? sources(join(dir, e.name)) : e.name.endsWith(".ts") ? [join(dir, e.name)] : [],
  );
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(/^(import|export)( type)?[^;]*?from "([^"]+)";|\bimport\("([^"]+)"\)/gm)].map((m) => {
    const target = m[3] ?? m[4]!;
    const pkg = !target.startsWith(".");
    return {
      from: relative(SRC, file),
      to: pkg ? target : relative(SRC, resolve(dirname(file), target)).replace(/\.js$/, ".ts"),
      typeOnly: m[2] !== undefined,
      pkg,
    };
  });
}

const all = sources().flatMap(importsOf);
const folderOf = (path: string): string => (path.includes("/") ? path.split("/")[0]! : path.replace(/\.ts$/, ""));

describe("imports go one way", () => {
  test("every folder has its rule", () => {
    const folders = readdirSync(SRC, { withFileTypes: true }).filter(
      (e) => e.isDirectory() && sources(join(SRC, e.name)).length > 0,
    );
    expect(folders.map((e) => e.name).sort()).toEqual(Object.keys(MAY_IMPORT).sort());
  });

  test("no folder imports what is not on its left (types alone may cross)", () => {
    const wrong = all
      .filter((i) => !i.pkg && !i.typeOnly && i.from.includes("/"))
      .filter((i) => {
        const [from, to] = [folderOf(i.from), folderOf(i.to)];
        return from !== to && !LEAVES.includes(to) && !MAY_IMPORT[from]?.includes(to);
      })
      .map((i) => `${i.from} → ${i.to}`);
    expect(wrong).toEqual([]);
  });

  test.each([
    ["bullmq", ["queue"]],
    ["fastify", ["http"]],
    ["ioredis", ["redis", "queue", "broker", "worker", "client", "metrics", "replay", "demo"]],
    ["prom-client", ["metrics"]],
  ])("only its folders import %s", (pkg, folders) => {
    const wrong = all
      .filter((i) => i.pkg && !i.typeOnly && i.to === pkg && !folders.includes(folderOf(i.from)))
      .map((i) => i.from);
    expect(wrong).toEqual([]);
  });

  test("no import cycles", () => {
    const graph = new Map<string, string[]>();
    for (const i of all.filter((i) => !i.pkg && !i.typeOnly)) graph.set(i.from, [...(graph.get(i.from) ?? []), i.to]);
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(" → "));
      else if (!done.has(file)) {
        for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
        done.add(file);
      }
    };
    for (const file of graph.keys()) visit(file, []);
    expect(cycles).toEqual([]);
  });
});
