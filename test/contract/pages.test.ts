import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const tracked = execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" }).trim().split("\n");
const pages = tracked.filter((file) => file.endsWith(".md") && !file.startsWith("test/"));
const folders = new Set(tracked.map((file) => file.split("/")[0]!));

/** As GitHub names the anchors of a page's headings. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

describe.each(pages)("%s", (page) => {
  const text = read(page);

  test("links to pages and headings that are there", () => {
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => to!).filter((to) => !/^https?:/.test(to));
    const broken = links.filter((link) => {
      const [path, anchor] = link.split("#") as [string, string?];
      const target = path === "" ? page : join(dirname(page), path);
      if (!existsSync(join(ROOT, target))) return true;
      return anchor !== undefined && !anchorsOf(read(target)).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  test("names files and folders of this repository that are there", () => {
    const named = [...text.matchAll(/(?:^|[\s`(])((?:[\w.-]+\/)+[\w.*-]*)(?=[\s`),:;.]|$)/gm)]
      .map(([, path]) => path!.replace(/[.,]$/, ""))
      .filter((path) => folders.has(path.split("/")[0]!) && !/[*…]|^dist\//.test(path));
    const there = (path: string): boolean =>
      [ROOT, join(ROOT, dirname(page))].some((from) => existsSync(join(from, path)));
    expect(named.filter((path) => !there(path))).toEqual([]);
  });
});

test("decision 0001 names every package that package.json does", () => {
  const table = read("docs/decisions/0001-dependencies.md");
  const manifest = JSON.parse(read("package.json")) as Record<string, Record<string, string>>;
  const names = ["dependencies", "devDependencies", "peerDependencies"].flatMap((kind) => Object.keys(manifest[kind]!));
  const word = (name: string): string =>
    name
      .replace(/^@types\//, "")
      .replace(/^@biomejs\//, "")
      .replace(/^@tensorflow\/tfjs/, "");
  expect(names.filter((name) => !table.includes(word(name)))).toEqual([]);
});
