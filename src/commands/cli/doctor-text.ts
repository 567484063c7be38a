import type { Check } from "../../redis/finding.js";

const SIGNS: Record<Check["level"], string> = { ok: "ok    ", note: "note  ", warning: "WARN  ", critical: "WRONG " };

/** What was found, each with the line that fixes it below; the count of what is wrong at the end. */
export function doctorText({ machine, redis }: { machine: readonly Check[]; redis: readonly Check[] }): string {
  const all = [...machine, ...redis];
  const width = Math.max(...all.map((f) => f.name.length));
  const line = (f: Check): string =>
    `  ${SIGNS[f.level]} ${f.name.padEnd(width)}  ${f.text}\n` +
    (f.fix ? `${" ".repeat(width + 11)}fix: ${f.fix}\n` : "");
  const wrong = all.filter((f) => f.level === "critical").length;
  const warnings = all.filter((f) => f.level === "warning").length;
  const verdict =
    wrong > 0
      ? `${wrong} wrong, ${warnings} to think about.`
      : warnings > 0
        ? `Nothing wrong, ${warnings} to think about.`
        : "Nothing wrong.";
  return `This machine\n${machine.map(line).join("")}\nRedis and services\n${redis.map(line).join("")}\n${verdict}\n`;
}
