import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startPrivateRedis, startServices } from "dataflex-mq/server";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

test("the README's TypeScript runs as it stands and prints what its comments say", async () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const code = /```ts\n([\s\S]*?)```/.exec(readme)![1]!;
  const said = [...code.matchAll(/console\.log\(.*?\); \/\/ (Float32Array.*)$/gm)].map((m) => m[1]!);
  expect(said).toHaveLength(1);

  const redis = await startPrivateRedis();
  const services = await startServices({ redisUrl: redis.url });
  // Inside the repository, so that the package finds itself by name.
  const dir = mkdtempSync(join(root, "test/readme-"));
  try {
    writeFileSync(join(dir, "example.mts"), code);
    const env = { ...process.env, DFX_REDIS_URL: redis.url };
    const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", join(dir, "example.mts")], {
      env,
      cwd: root,
    });
    const printed = stdout.replace(/\s+/g, " ");
    expect(printed).toContain(said[0]);
    const [first = 0, second = 0] = [...said[0]!.matchAll(/\d\.\d+/g)].map((m) => Number(m[0]));
    expect(printed).toContain(`Float32Array(6) [ ${[first, first, first, second, second, 0].join(", ")} ]`);
  } finally {
    rmSync(dir, { recursive: true });
    await services.stop();
    await redis.stop();
  }
});
