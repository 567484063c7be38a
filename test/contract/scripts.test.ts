import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { SCRIPTS } from "../../src/redis/scripts/run-script.js";

const source = (file: string): string =>
  readFileSync(new URL(`../../src/redis/scripts/${file}`, import.meta.url), "utf8");
const wordsOf = (text: string): string[] => [...text.matchAll(/\{ ?'([A-Z_]+)'/g)].map((m) => m[1]!);

test.each(Object.values(SCRIPTS))(
  "$file: its header lists the KEYS and the answers that the loader knows",
  (script) => {
    const text = source(script.file);
    const header = text.slice(0, text.search(/^(?!--)/m));
    const keys = /^-- KEYS {2}(.*)$/m.exec(header)![1]!;
    expect([...keys.matchAll(/(?:^| {2})(\d+) /g)]).toHaveLength(script.keys);
    expect(script.file).toMatch(new RegExp(`-${script.keys}\\.lua$`));
    expect([...new Set(wordsOf(header))].sort()).toEqual([...script.words].sort());
  },
);

test.each(Object.values(SCRIPTS))("$file answers no other word than its header lists", (script) => {
  const text = source(script.file);
  const code = text.slice(text.search(/^(?!--)/m));
  const given = [...wordsOf(code), ...[...code.matchAll(/refuse\('([A-Z_]+)'/g)].map((m) => m[1]!)];
  const fenced = code.includes("fence(") ? ["FENCED", "NOT_MOUNTED"] : [];
  const either = [...code.matchAll(/'([A-Z]+)' or '([A-Z]+)' \}/g)].flatMap((m) => [m[1]!, m[2]!]);
  expect([...new Set([...given, ...fenced, ...either])].sort()).toEqual([...script.words].sort());
});
