// Packs the tarball, installs it without development packages in an empty folder, and there runs what a user would: check, replay, and tsc on a
// ten-line consumer.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "dfx-package-"));
const run = (command, args, options = {}) =>
  execFileSync(command, args, { cwd: dir, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], ...options });
const assert = (ok, message) => {
  if (!ok) throw new Error(message);
};

try {
  const [{ filename }] = JSON.parse(
    run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", dir], { cwd: root }),
  );
  writeFileSync(join(dir, "package.json"), '{ "name": "consumer", "private": true, "type": "module" }\n');
  run("npm", ["install", "--omit=dev", "--no-audit", "--no-fund", join(dir, filename)]);
  const bin = join(dir, "node_modules/.bin/dataflex-mq");

  cpSync(join(root, "config/recipes/select.yaml"), join(dir, "select.yaml"));
  assert(run(bin, ["check", "select.yaml"]).includes("group_solve_rate"), "check does not name the scorer");

  const rollouts = ["a", "a", "a", "a", "b", "b"].map((uid, i) =>
    JSON.stringify({ uid, score: i % 4 === 0 ? 1 : 0, response_length: 3 + i }),
  );
  writeFileSync(join(dir, "rollouts.jsonl"), rollouts.join("\n"));
  const answer = JSON.parse(run(bin, ["replay", "rollouts.jsonl", "--config", "select.yaml", "--json"]));
  // Group a solves 1 of 4, group b 1 of 2: both lie inside the recipe's band.
  assert(answer.pipelines[0].kept.length === 6, `replay kept ${answer.pipelines[0].kept}`);
  assert(answer.evidence.worker_pid !== process.pid, "replay names no worker process");

  writeFileSync(
    join(dir, "consumer.ts"),
    `import { Client, defineScorer, z } from "dataflex-mq";
export const mine = defineScorer({
  name: "mine", requires: ["rm_scores", "response_mask"], timing: "post_reward", granularity: "response", rows: "independent",
  params: z.strictObject({ scale: z.number().default(1) }),
  score: (batch, { params }) => batch.field("rm_scores").sum().mul(params.scale),
});
export async function step(client: Client): Promise<Float32Array> {
  const run = await client.mount({ run_id: "r", dataflex: {}, adv_estimator: "grpo" });
  return (await run.weights(0, { timeoutMs: 1000 })).combined.weights;
}
`,
  );
  const options = { strict: true, module: "nodenext", target: "es2022", noEmit: true, skipLibCheck: false, types: [] };
  writeFileSync(join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["consumer.ts"] }));
  run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", dir], { stdio: "inherit" });
  console.log("the packed tarball installs, checks, replays, and types");
} finally {
  rmSync(dir, { recursive: true, force: true });
}
