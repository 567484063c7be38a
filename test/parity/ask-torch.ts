import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export interface TorchAnswers {
  readonly torch: string;
  /** One entry a run, see reference.py. */
  readonly answers: number[][][];
  readonly originals: Readonly<Record<string, number[]>>;
}

/** What the PyTorch formulas give for the cases. The first call of all makes the Python environment, which takes minutes. */
export function askTorch(cases: {
  readonly steps: readonly unknown[];
  readonly runs: readonly unknown[];
}): TorchAnswers {
  const python = execFileSync("scripts/python-env.sh", ["test/parity/requirements.txt"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  const dir = mkdtempSync(join(tmpdir(), "dataflex-mq-parity-"));
  try {
    const [given, answers] = [join(dir, "cases.json"), join(dir, "answers.json")];
    writeFileSync(given, JSON.stringify(cases));
    execFileSync(python.trim(), ["-W", "ignore::UserWarning", "test/parity/reference.py", given, answers], {
      cwd: ROOT,
      stdio: "inherit",
    });
    return JSON.parse(readFileSync(answers, "utf8"));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The first number of ours that is not torch's, in words; `undefined` when all agree to 1e-9 of their size. */
export function firstDifference(have: readonly number[][], want: readonly number[][]): string | undefined {
  if (have.length !== want.length) return `${have.length} rows instead of ${want.length}`;
  for (const [i, row] of want.entries()) {
    if (have[i]!.length !== row.length) return `row ${i}: ${have[i]!.length} numbers instead of ${row.length}`;
    for (const [t, value] of row.entries()) {
      const difference = Math.abs(have[i]![t]! - value);
      if (!(difference <= 1e-9 * Math.max(Math.abs(value), 1e-6)))
        return `row ${i}, ${t}: ${have[i]![t]} instead of ${value}`;
    }
  }
  return undefined;
}
