import type { Run } from "dataflex-mq";

/** One row a reward: a two-token response of the domain, the reward on its last token. */
export function domainStep(rewards: Readonly<Record<string, readonly number[]>>, column = "domain") {
  const rows = Object.entries(rewards).flatMap(([domain, values]) => values.map((reward) => ({ domain, reward })));
  return {
    rm_scores: rows.map(({ reward }) => [0, reward]),
    response_mask: rows.map(() => [1, 1]),
    [column]: rows.map(({ domain }) => domain),
  };
}

/** Posts one step and answers the shares of its mix pipeline, in the order of its domains. */
export async function shares(run: Run, step: number, rewards: Readonly<Record<string, readonly number[]>>) {
  await run.put(step, "post_reward", domainStep(rewards));
  return sharesOf(run, step);
}

export async function sharesOf(run: Run, step: number, pipeline = 0): Promise<number[]> {
  const result = await run.weights(step, { timeoutMs: 15_000 });
  return Object.values(result.pipelines[pipeline]?.proportions ?? {});
}

export const mixBlock = (actuator: string, more: object = {}, params: object = {}) => ({
  mechanism: "mix",
  actuator: { name: actuator, params },
  domains: ["math", "code"],
  ...more,
});
