import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { builtinCatalogue } from "../../src/mounting/catalogue/builtin.js";
import { loadConfig } from "../../src/mounting/config/load-config.js";
import { BUILT_INS } from "../../src/scoring/components/catalogue.js";
import { createRegistry } from "../../src/scoring/components/registry.js";
import { weighStep } from "../../src/scoring/pipeline/weigh-step.js";
import { fakeBatch } from "../../src/testing.js";
import { tokensOf } from "../helpers/act.js";
import { mounted } from "../helpers/mount.js";
import { firstDifference } from "./ask-torch.js";
import { randomStep } from "./steps.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const RECIPES = join(ROOT, "config/recipes");
const presets = readdirSync(RECIPES).flatMap((file) => {
  const name = /^verl-(decoupled-.*)\.yaml$/.exec(file)?.[1];
  return name === undefined ? [] : [{ file: join(RECIPES, file), preset: name.replaceAll("-", "_") }];
});

interface Answers {
  readonly known: string[];
  /** By preset, by step, row by row, a weight an unmasked token. */
  readonly weights: Readonly<Record<string, (number[][] | null)[]>>;
}

/** Steps whose policies differ by much, little and next to nothing: verl's geometric bounds are ±0.1 %. No padding, which verl takes for rows. */
const steps = Array.from({ length: 200 }, (_, k) => {
  const { mask, lengths, fields } = randomStep(k);
  const scale = [1, 0.3, 0.01, 0.001][k % 4]!;
  const kept = (matrix: number[][]) => matrix.filter((_, i) => mask[i]!.includes(1));
  const old = fields.old_log_probs!.map((row, i) => row.map((value, t) => (mask[i]![t] === 1 ? value : 0)));
  const rollout = fields.rollout_log_probs!.map((row, i) =>
    row.map((value, t) => (mask[i]![t] === 1 ? old[i]![t]! + scale * (value - old[i]![t]!) : 0)),
  );
  return {
    mask: kept(mask),
    old: kept(old),
    rollout: kept(rollout),
    lengths: lengths.filter((_, i) => mask[i]!.includes(1)),
  };
});

/** What verl gives. The environment is that of the trainers' tests; torch comes from the one beside it. */
function askVerl(): Answers {
  const environment = (file: string) =>
    execFileSync("scripts/python-env.sh", [file], { cwd: ROOT, encoding: "utf8" }).trim();
  const purelib = ["-c", 'import sysconfig; print(sysconfig.get_path("purelib"))'];
  const torch = execFileSync(environment("test/parity/requirements.txt"), purelib, { encoding: "utf8" }).trim();
  const dir = mkdtempSync(join(tmpdir(), "dataflex-mq-verl-"));
  try {
    const [given, answers] = [join(dir, "cases.json"), join(dir, "answers.json")];
    writeFileSync(given, JSON.stringify({ presets: presets.map(({ preset }) => preset), steps }));
    execFileSync(
      environment("python/requirements-verl.txt"),
      ["-W", "ignore", "test/parity/verl_presets.py", given, answers],
      {
        cwd: ROOT,
        env: { ...process.env, PYTHONPATH: torch, CUDA_VISIBLE_DEVICES: "", PYTHONDONTWRITEBYTECODE: "1" },
        stdio: ["ignore", "ignore", "inherit"],
      },
    );
    return JSON.parse(readFileSync(answers, "utf8"));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

let verl: Answers;

beforeAll(() => {
  verl = askVerl();
});

it("has a recipe for each of verl's presets outside the loss", () => {
  expect(presets.map(({ preset }) => preset).sort()).toEqual(verl.known);
});

describe.each(presets)("$preset", ({ file, preset }) => {
  it("weighs as verl does on 200 random steps", async () => {
    const loaded = await loadConfig(file);
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    const [spec] = mounted(loaded.config.dataflex, {}, [builtinCatalogue()]).pipelines;
    const registry = createRegistry(BUILT_INS);
    const seen = { rejected: 0, kept: 0 };
    for (const [k, step] of steps.entries()) {
      const ragged = (matrix: number[][]) => matrix.map((row, i) => row.slice(0, step.lengths[i]!));
      const batch = fakeBatch({
        response_mask: ragged(step.mask),
        old_log_probs: ragged(step.old),
        rollout_log_probs: ragged(step.rollout),
      });
      const run = { run: "verl", step: 1, trigger: 0 };
      const have = tokensOf(await weighStep({ spec: spec!, registry, batch, run }));
      const want = verl.weights[preset]![k] ?? step.mask.map((row) => row.filter((m) => m === 1).map(() => 0));
      // Delivered weights are float32.
      const wrong = firstDifference(
        have,
        want.map((row) => row.map(Math.fround)),
      );
      expect(wrong, `step ${k}: ${wrong}`).toBeUndefined();
      for (const weight of want.flat()) seen[weight === 0 ? "rejected" : "kept"]++;
    }
    expect(seen.kept).toBeGreaterThan(100);
    if (/icepop|_rs/.test(preset)) expect(seen.rejected).toBeGreaterThan(100);
  });
});
