import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SRC = join(ROOT, "src");

/** Files that any room may import. They import each other only. */
const LEAVES = [
  "defined",
  "errors",
  "fault-points",
  "lifecycle",
  "log",
  "read-file",
  "redact",
  "sentences",
  "suggest",
  "version",
];
/** What others import from outside: one file for each way into the package. */
const DOORS = ["index", "server", "testing"];
/** Rooms in the order in which a batch passes; each may import the rooms that it names, all of them above it. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  columns: [],
  protocol: ["columns"],
  redis: ["columns", "protocol"],
  scoring: ["columns", "protocol"],
  mounting: ["columns", "protocol", "scoring"],
  client: ["columns", "protocol", "redis", "scoring"],
  broker: ["columns", "protocol", "redis", "mounting"],
  worker: ["columns", "protocol", "redis", "scoring", "mounting"],
  observe: ["columns", "protocol", "redis", "scoring", "broker", "worker"],
  commands: ["columns", "protocol", "redis", "scoring", "mounting", "client", "broker", "worker", "observe"],
  testing: ["columns", "protocol", "scoring"],
};
/** Rooms that may import a package at run time. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  bullmq: ["redis"],
  fastify: ["observe"],
  ioredis: ["redis"],
  "prom-client": ["observe"],
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

const files = sources();
const all = files.flatMap(importsOf);
const own = all.filter((i) => !i.pkg);
const roomOf = (path: string): string => (path.includes("/") ? path.split("/")[0]! : path.replace(/\.ts$/, ""));

describe("imports go one way", () => {
  test("every room stands in the table, after the rooms that it imports", () => {
    const folders = readdirSync(SRC, { withFileTypes: true }).filter((e) => e.isDirectory());
    const names = Object.keys(ROOMS);
    expect(folders.map((e) => e.name).sort()).toEqual([...names].sort());
    expect(names.filter((name, i) => ROOMS[name]!.some((to) => names.indexOf(to) >= i))).toEqual([]);
    const loose = files.map((f) => relative(SRC, f)).filter((f) => !f.includes("/"));
    expect(loose.map(roomOf).sort()).toEqual([...LEAVES, ...DOORS].sort());
  });

  test("no room imports what its line does not name, types included, and every permission is used", () => {
    const wrong = own.filter((i) => {
      const [from, to] = [roomOf(i.from), roomOf(i.to)];
      if (DOORS.includes(from) || from === to || LEAVES.includes(to)) return false;
      return LEAVES.includes(from) || !ROOMS[from]?.includes(to);
    });
    expect(wrong.map((i) => `${i.from} → ${i.to}`)).toEqual([]);
    const used = new Set(own.map((i) => `${roomOf(i.from)} → ${roomOf(i.to)}`));
    const permitted = Object.entries(ROOMS).flatMap(([from, to]) => to.map((t) => `${from} → ${t}`));
    expect(permitted.filter((p) => !used.has(p))).toEqual([]);
  });

  test.each(Object.entries(PACKAGES))("only its rooms import %s", (pkg, rooms) => {
    const wrong = all.filter((i) => i.pkg && !i.typeOnly && i.to === pkg && !rooms.includes(roomOf(i.from)));
    expect(wrong.map((i) => i.from)).toEqual([]);
  });

  test("docs/architecture.md draws this table", () => {
    const doc = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
    const rows = [...doc.matchAll(/^\| `src\/(\w+)\/` \| [^|]+ \| ([^|]+) \|$/gm)].map((m) => [m[1]!, m[2]!.trim()]);
    const table = Object.entries(ROOMS).map(([name, to]) => [name, to.map((t) => `\`${t}\``).join(", ") || "–"]);
    expect(rows).toEqual(table);
  });

  test("no import cycles, types included", () => {
    const graph = new Map<string, string[]>();
    for (const i of own) graph.set(i.from, [...(graph.get(i.from) ?? []), i.to]);
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

  test("no two files of one name; `workers/` holds what processes are started from", () => {
    const names = files.map((f) => f.split("/").at(-1)!);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });
});
