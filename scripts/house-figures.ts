// The figures of docs/decisions/0010-the-house.md, for any checkout of this repository: `npx tsx scripts/house-figures.ts [FOLDER]`
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const root = resolve(process.argv[2] ?? ".");
const tracked = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const linesOf = (file: string): number => read(file).split("\n").length - 1;
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

const CODE = /\.(ts|js|mjs|lua|py|css|html)$/;
/** Files that are written by hand, a link counted where it points to. */
const code = tracked.filter((file) => CODE.test(file) && existsSync(join(root, file)) && !isLink(file));
const source = code.filter((file) => /^(src|workers)\/|^(clients\/)?python\/src\//.test(file));
const tests = code.filter((file) => /^test\/|^(clients\/)?python\/tests\/|\.test\.ts$/.test(file));

function isLink(file: string): boolean {
  return lstatSync(join(root, file)).isSymbolicLink();
}

/** Circles of imports in `src`, types included: the strongly connected components of more than one file. */
function circles(): string[][] {
  const files = source.filter((file) => file.startsWith("src/") && file.endsWith(".ts"));
  const graph = new Map(files.map((file) => [file, importsOf(file).filter((to) => files.includes(to))]));
  const reach = new Map(files.map((file) => [file, reachable(graph, file)]));
  const seen = new Set<string>();
  return files.flatMap((file) => {
    const circle = files.filter((other) => reach.get(file)!.has(other) && reach.get(other)!.has(file));
    if (circle.length < 2 || seen.has(file)) return [];
    for (const member of circle) seen.add(member);
    return [circle];
  });
}

function importsOf(file: string): string[] {
  return [...read(file).matchAll(/(?:from|import\() ?"(\.[^"]+)"/g)].map(([, to]) =>
    join(dirname(file), to!).replace(/\.js$/, ".ts"),
  );
}

function reachable(graph: ReadonlyMap<string, readonly string[]>, from: string): Set<string> {
  const found = new Set<string>();
  const open = [...graph.get(from)!];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    open.push(...(graph.get(file) ?? []));
  }
  return found;
}

/** Exports that no other file uses, by knip; needs the checkout's node_modules, and this one's configuration. */
function unusedExports(): string {
  if (!existsSync(join(root, "knip.config.js"))) return "no knip.config.js";
  const knip = spawnSync("npx", ["knip", "--exports", "--reporter", "json"], { cwd: root, encoding: "utf8" });
  const { issues } = JSON.parse(knip.stdout) as { issues: { exports: unknown[]; types: unknown[] }[] };
  return `${sum(issues.map((i) => i.exports.length))} values, ${sum(issues.map((i) => i.types.length))} types`;
}

function report(name: string, files: readonly string[]): void {
  const sorted = files.map((file) => ({ file, lines: linesOf(file) })).sort((a, b) => a.lines - b.lines);
  const rank = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))]!.lines;
  const longest = sorted.at(-1)!;
  console.log(`${name}: ${sorted.length} files, ${sum(sorted.map((s) => s.lines))} lines`);
  console.log(`  median ${rank(0.5)}, p90 ${rank(0.9)}, longest ${longest.lines} (${longest.file})`);
}

const inSrc = source.filter((file) => file.startsWith("src/"));
const rooms = new Set(inSrc.filter((file) => file.split("/").length > 2).map((file) => file.split("/")[1]));
console.log(`folders of src: ${rooms.size}`);
report("source", source);
report("tests", tests);
const found = circles();
console.log(`circles of imports: ${found.length}`);
for (const circle of found) console.log(`  ${circle.join(", ")}`);
console.log(`unused exports: ${unusedExports()}`);
