import { Client } from "dataflex-mq";
import { type ServicesOptions, startPrivateRedis, startServices } from "dataflex-mq/server";

/** A private Redis, a broker and workers in processes of their own, and a mounted run. */
export async function startBench(dataflex: object, options: Omit<ServicesOptions, "redisUrl"> = {}) {
  const server = await startPrivateRedis();
  const services = await startServices({ redisUrl: server.url, ...options });
  const client = await Client.connect({ redisUrl: server.url });
  const run = await client.mount({ run_id: "bench", adv_estimator: "grpo", dataflex });
  return {
    url: server.url,
    run,
    async stop(): Promise<void> {
      await client.close();
      await services.stop();
      await server.stop();
    },
  };
}

/** Response lengths from a quarter of the width to all of it. */
export function responseLengths(rows: number, width: number): Int32Array {
  const shortest = width / 4;
  return Int32Array.from({ length: rows }, (_, i) => shortest + ((i * 997) % (width - shortest + 1)));
}

/** Advantages of a GRPO step as a trainer holds them: a row's advantage at every token of its response; and the mask. */
export function grpoStep(rows: number, width: number) {
  const lengths = responseLengths(rows, width);
  const total = lengths.reduce((a, b) => a + b, 0);
  const perRow = Float32Array.from({ length: rows }, (_, i) => ((i % 8) - 3.5) / 4);
  const values = new Float32Array(total);
  for (let i = 0, at = 0; i < rows; at += lengths[i++]!) values.fill(perRow[i]!, at, at + lengths[i]!);
  return {
    lengths,
    perRow,
    advantages: { values, lengths, width },
    response_mask: { values: new Uint8Array(total).fill(1), lengths, width, dtype: "bool" as const },
  };
}

export const GRPO = {
  mechanism: "reweight",
  scorer: { name: "advantage_magnitude" },
  actuator: { name: "softmax" },
};
