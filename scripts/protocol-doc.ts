import { readFileSync } from "node:fs";
import { KEY_TABLE } from "../src/redis/keys.js";
import { SCRIPTS } from "../src/redis/scripts/run-script.js";
import { fillBlock } from "./fill-block.js";

/** docs/protocol.md with its generated blocks as the code has them now. */
export function protocolDoc(text: string): string {
  const keys = [
    "| key | type | TTL | holds |",
    "|---|---|---|---|",
    ...KEY_TABLE.map((k) => `| \`${k.key}\` | ${k.type} | ${k.ttl} | ${k.holds} |`),
  ];
  const scripts = Object.values(SCRIPTS).flatMap(({ file }) => [
    `**${file}**`,
    "",
    "```",
    ...headerOf(file),
    "```",
    "",
  ]);
  return fillBlock(fillBlock(text, "keys", keys), "scripts", scripts);
}

/** The comment that a script begins with. */
function headerOf(file: string): string[] {
  const lines = readFileSync(new URL(`../src/redis/scripts/${file}`, import.meta.url), "utf8").split("\n");
  const end = lines.findIndex((l) => !l.startsWith("--"));
  return lines.slice(0, end).map((l) => l.replace(/^-- ?/, ""));
}
