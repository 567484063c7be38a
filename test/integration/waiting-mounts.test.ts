import { expect, test } from "vitest";
import { pack } from "../../src/protocol/codec.js";
import { PROTOCOL_VERSIONS } from "../../src/protocol/messages.js";
import { CLAIM_TTL_MS, runKeys, sharedKeys } from "../../src/redis/keys.js";
import { REWEIGHT } from "../helpers/batches.js";
import { eventually } from "../helpers/eventually.js";
import { useSystem } from "../helpers/system.js";

const system = useSystem({ workers: [] });
const MOUNTS = 300;

async function calls(command?: string): Promise<number> {
  const stats = await system.redis.raw.info("commandstats");
  const counted = [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)];
  return counted.reduce((n, [, name, times]) => (!command || name === command ? n + Number(times) : n), 0);
}

test("mounts that wait for a first worker cost Redis next to nothing, and are answered once it lives", async () => {
  const ids = Array.from({ length: MOUNTS }, (_, i) => `waiting-${i}`);
  const post = {
    v: PROTOCOL_VERSIONS,
    kind: "mount",
    dataflex: REWEIGHT,
    takeover: false,
    deadline: Date.now() + 60_000,
  };
  for (const id of ids) {
    const request = pack({ ...post, mount_id: id, run: id });
    await system.redis.raw.set(runKeys(id).claim(id), "1", "PX", CLAIM_TTL_MS);
    await system.redis.raw.xadd(sharedKeys.control, "*", "request", Buffer.from(request));
  }
  const replies = (): Promise<number> => system.redis.raw.exists(...ids.map((id) => sharedKeys.reply(id)));
  await eventually(async () => (await replies()) === MOUNTS, { what: "every mount said to wait" });
  const before = await calls();
  const turns = await calls("xreadgroup");
  // Four loops' turns of 2 s each.
  await eventually(async () => (await calls("xreadgroup")) >= turns + 8, {
    what: "turns of the loops",
    timeoutMs: 20_000,
  });
  expect((await calls()) - before).toBeLessThan(20 * MOUNTS);
  await system.worker();
  await eventually(async () => (await system.redis.raw.xlen(sharedKeys.control)) === 0, {
    what: "every mount answered",
    timeoutMs: 10_000,
  });
});

test("with Redis frozen, a client closes six runs in the time of one", async () => {
  const client = await system.client();
  for (let i = 0; i < 6; i++)
    await client.mount({ run_id: `frozen-${i}`, dataflex: REWEIGHT, adv_estimator: "grpo", timeoutMs: 10_000 });
  process.kill(system.redis.pid, "SIGSTOP");
  try {
    const begun = performance.now();
    await client.close();
    expect(performance.now() - begun).toBeLessThan(5_000);
  } finally {
    process.kill(system.redis.pid, "SIGCONT");
  }
});
