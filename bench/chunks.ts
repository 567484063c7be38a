/**
 * How a 64 MiB body gets into Redis: one value, 1 MiB chunks by plain XADD (pipelined), one script call per chunk.
 * Run: npm run build && npx tsx bench/chunks.ts
 */
import { writeChunks } from "../src/redis/chunk-stream.js";
import { connect } from "../src/redis/connect.js";
import { startPrivateRedis } from "../src/redis/private-server.js";
import { interleave, report } from "./measure.js";

const MIB = 1 << 20;
const body = new Uint8Array(64 * MIB).map((_, i) => (i * 2654435761) >>> 24);
const chunks = Array.from({ length: 64 }, (_, i) => body.subarray(i * MIB, (i + 1) * MIB));
const SCRIPT = "return redis.call('XADD', KEYS[1], ARGV[1], 'b', ARGV[2])";

const server = await startPrivateRedis();
const redis = await connect(server.url, "command");
let n = 0;
const fresh = (): string => `bench:${n++}`;
const results = await interleave(
  15,
  {
    "one value (SET)": async () => void (await redis.set(fresh(), Buffer.from(body.buffer))),
    "1 MiB chunks (XADD)": () => writeChunks(redis, fresh(), chunks, 60_000),
    "a script per chunk": async () => {
      const key = fresh();
      await Promise.all(
        chunks.map((c, i) =>
          redis.eval(SCRIPT, 1, key, `0-${i + 1}`, Buffer.from(c.buffer, c.byteOffset, c.byteLength)),
        ),
      );
    },
  },
  () => redis.flushall(),
);
report("64 MiB into Redis", results, "1 MiB chunks (XADD)");
redis.disconnect();
await server.stop();
