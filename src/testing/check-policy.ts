import { seededRng } from "../scoring/batch/rng.js";
import type { Policy } from "../scoring/components/component-types.js";
import type { PromptOutcome } from "../scoring/pipeline/prompts.js";
import type { FakeField } from "./fake-batch.js";
import type { Params } from "./run-component.js";
import { runPolicy } from "./run-policy.js";

type Fields = Readonly<Record<string, FakeField>>;
const KEYS = ["easy", "hard", "mixed", "new"];

/** Responses of a step: two prompts of two rows each, one of four. */
function responses(policy: Policy, seed: number): Fields {
  const rng = seededRng("responses", seed);
  const keys = ["easy", "easy", "hard", "hard", "mixed", "mixed", "mixed", "mixed"];
  const rewards = [1, 1, 0, 0, 1, 0, Number(rng() < 0.5), 0];
  const fields: Record<string, FakeField> = { response_mask: keys.map(() => [1, 1]) };
  for (const { name } of policy.feed_needs) {
    if (name === "dataset_key") fields[name] = keys;
    else if (name === "uid") fields[name] = keys.map((key) => `${key}-${seed}`);
    else if (/reward|scores/.test(name)) fields[name] = rewards.map((reward) => [0, reward]);
    else if (name !== "response_mask") fields[name] = keys.map(() => [rng(), rng()]);
  }
  return fields;
}

function candidates(policy: Policy, keys: readonly string[]): Fields {
  const fields: Record<string, FakeField> = { dataset_key: keys };
  for (const { name } of policy.needs)
    if (name !== "dataset_key") fields[name] = keys.map((key) => 10 * (1 + KEYS.indexOf(key)));
  return fields;
}

/** What a policy violates, in words. */
export async function checkPolicy(policy: Policy, params: Params): Promise<string[]> {
  const failures: string[] = [];
  const check = async (label: string, test: () => Promise<string | undefined>): Promise<void> => {
    try {
      const wrong = await test();
      if (wrong !== undefined) failures.push(`${label}: ${wrong}`);
    } catch (thrown) {
      failures.push(`${label}: threw ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    }
  };
  for (const steps of [0, 1, 5, 40]) {
    const fed = Array.from({ length: steps }, (_, i) => responses(policy, i));
    const choose = (keys: readonly string[]) => runPolicy(policy, fed, candidates(policy, keys), params);
    await check(`choice, after ${steps} steps`, async () => choiceProblem(await choose(KEYS), KEYS.length));
    await check(`determinism, after ${steps} steps`, async () => {
      const [a, b] = [await choose(KEYS), await choose(KEYS)];
      return JSON.stringify([a.kept, a.weights]) === JSON.stringify([b.kept, b.weights])
        ? undefined
        : "two runs differ";
    });
    await check(`no candidates, after ${steps} steps`, async () => choiceProblem(await choose([]), 0));
    await check(`one candidate, after ${steps} steps`, async () => choiceProblem(await choose(["easy"]), 1));
  }
  return failures;
}

function choiceProblem({ kept, weights }: PromptOutcome, size: number): string | undefined {
  const sound = [...kept].every((row, i) => row >= 0 && row < size && (i === 0 || row > kept[i - 1]!));
  if (!sound) return `kept ${[...kept].join(", ")} of ${size} candidates`;
  if (weights === undefined) return undefined;
  const { values } = weights;
  if (values.length !== size) return `${values.length} weights for ${size} candidates`;
  return values.every((weight) => Number.isFinite(weight) && weight >= 0) ? undefined : `weights ${values.join(", ")}`;
}
