// Packs the tarball, installs it without development packages in an empty folder, and there runs what a user would: check, replay, tsc on a
// ten-line consumer, and a component of one's own that lies as a loose file in a folder elsewhere.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "dfx-package-"));
const elsewhere = mkdtempSync(join(tmpdir(), "dfx-plugin-"));
const run = (command, args, options = {}) =>
  execFileSync(command, args, { cwd: dir, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], ...options });
const assert = (ok, message) => {
  if (!ok) throw new Error(message);
};

/** Starts `dataflex-mq all` with a plugin, mounts its scorer from a program of the consumer's, and answers with the weights. */
async function weightsByPlugin(bin) {
  cpSync(join(root, "examples/plugins/mean-surprise.ts"), join(elsewhere, "mine.ts"));
  const described = run(bin, ["components", "mean_surprise", "--plugin", "./mine.ts"], { cwd: elsewhere });
  assert(described.includes("power (number > 0, default 1)"), `components says ${described}`);
  writeFileSync(
    join(dir, "trainer.mjs"),
    `import { Client } from "dataflex-mq";
const client = await Client.connect();
const dataflex = { mechanism: "reweight", scorer: { name: "mean_surprise" }, actuator: { name: "softmax" } };
const run = await client.mount({ run_id: "mine", adv_estimator: "grpo", dataflex, timeoutMs: 20_000 });
const old_log_probs = [[-1, -1], [-2, -2]];
await run.put(1, "post_advantage", { old_log_probs, response_mask: [[1, 1], [1, 1]] });
console.log(JSON.stringify([...(await run.weights(1, { timeoutMs: 20_000 })).combined.weights]));
await client.close();
`,
  );
  const stdio = ["ignore", "pipe", "inherit"];
  const all = spawn(bin, ["all", "--workers", "1", "--plugin", "./mine.ts"], { cwd: elsewhere, stdio });
  const ended = new Promise((resolve) => all.once("exit", resolve));
  try {
    let said = "";
    const url = await new Promise((resolve, reject) => {
      all.once("exit", (code) => reject(new Error(`dataflex-mq all ended with ${code}`)));
      all.stdout.on("data", (text) => {
        said += text;
        if (said.includes("stop: Ctrl-C")) resolve(/DFX_REDIS_URL=(\S+)/.exec(said)[1]);
      });
    });
    return JSON.parse(run(process.execPath, ["trainer.mjs"], { env: { ...process.env, DFX_REDIS_URL: url } }));
  } finally {
    all.kill("SIGTERM");
    await ended;
  }
}

try {
  const [{ filename }] = JSON.parse(
    run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", dir], { cwd: root }),
  );
  writeFileSync(join(dir, "package.json"), '{ "name": "consumer", "private": true, "type": "module" }\n');
  run("npm", ["install", "--engine-strict", "--omit=dev", "--no-audit", "--no-fund", join(dir, filename)]);
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
  const options = { strict: true, module: "nodenext", target: "es2022", noEmit: true, skipLibCheck: false };
  const types = { types: ["node"], typeRoots: [join(root, "node_modules/@types")] };
  writeFileSync(
    join(dir, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { ...options, ...types }, files: ["consumer.ts"] }),
  );
  const tsc = spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", dir], {
    cwd: dir,
    encoding: "utf8",
  });
  // Declarations of other packages have errors of their own (tfjs misses a global); ours and the consumer's must have none.
  const wrong = tsc.stdout
    .split("\n")
    .filter((line) => /^(consumer\.ts|node_modules\/dataflex-mq\/).*error/.test(line));
  assert(tsc.error === undefined && wrong.length === 0, `the consumer does not type:\n${wrong.join("\n")}`);
  // softmax of 1 and 2, times the number of rows.
  const weights = await weightsByPlugin(bin);
  const want = [2 / (1 + Math.E), (2 * Math.E) / (1 + Math.E)];
  assert(
    weights.length === 2 && weights.every((w, i) => Math.abs(w - want[i]) < 1e-6),
    `the plugin weighed ${weights}`,
  );
  console.log("the packed tarball installs, checks, replays, types, and scores with a loose plugin");
} finally {
  rmSync(dir, { recursive: true, force: true });
  rmSync(elsewhere, { recursive: true, force: true });
}
