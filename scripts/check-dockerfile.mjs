// Runs what the Dockerfile runs, on this machine: its stages `build` and `runtime` on a copy of the files that git knows, with the
// runtime's folder holding nothing but what is copied into it; `build-gpu` without the installer of tfjs-node-gpu, which downloads
// libtensorflow; `build-python`, whose wheel must hold the Lua scripts. Where Docker is not at hand this is as near as one gets. Plain
// JavaScript, since it looks at a tree before anything is built.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
/** They need what lies in their base images, and download CUDA. */
const SKIPPED = ["gpu", "gpu-python"];
/** What stages get beside this machine's environment. */
const EXTRA = { "build-gpu": { npm_config_ignore_scripts: "true" } };
const work = mkdtempSync(join(tmpdir(), "dfx-docker-"));

/** Stages in order: `{name, base, steps: [{word, rest}]}`. */
function stages() {
  const found = [];
  for (const line of readFileSync(join(root, "Dockerfile"), "utf8").split("\n")) {
    const [, word, rest] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (word === "FROM") {
      const [base, , name] = rest.split(" ");
      found.push({ name, base, steps: [] });
    } else if (word !== undefined) found.at(-1).steps.push({ word, rest });
  }
  return found;
}

function copyOwn(sources, to) {
  const ignored = readFileSync(join(root, ".dockerignore"), "utf8").split("\n").filter(Boolean);
  const files = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean);
  for (const file of files) {
    if (ignored.includes(file.split("/", 1)[0])) continue;
    if (!sources.includes(".") && !sources.includes(file)) continue;
    mkdirSync(dirname(join(to, file)), { recursive: true });
    cpSync(join(root, file), join(to, file));
  }
}

function run(stage, env) {
  const app = join(work, stage.name);
  mkdirSync(app, { recursive: true });
  // `FROM` an earlier stage: with all that is in it.
  if (existsSync(join(work, stage.base))) cpSync(join(work, stage.base), app, { recursive: true });
  for (const { word, rest } of stage.steps) {
    if (word === "ENV") Object.assign(env, Object.fromEntries([rest.split("=", 2)]));
    else if (word === "RUN")
      execFileSync("sh", ["-c", rest], { cwd: app, env, stdio: ["ignore", "ignore", "inherit"] });
    else if (word === "COPY") {
      const words = rest.split(" ");
      const from = /^--from=(.*)$/.exec(words[0])?.[1];
      if (from === undefined) copyOwn(words.slice(0, -1), app);
      else {
        const source = words[1].replace("/app/", "");
        cpSync(join(work, from, source), join(app, words[2] === "./" ? source : words[2]), { recursive: true });
      }
    } else if (word === "ENTRYPOINT") {
      const [program, ...args] = JSON.parse(rest).map((part) => part.replace("/app/", `${app}/`));
      return (more) => spawnSync(program, [...args, ...more], { cwd: app, env, encoding: "utf8" });
    }
  }
}

try {
  let entry;
  for (const stage of stages().filter(({ name }) => !SKIPPED.includes(name)))
    entry = run(stage, { ...process.env, ...EXTRA[stage.name] }) ?? entry;
  const gpu = JSON.parse(
    readFileSync(join(work, "build-gpu/node_modules/@tensorflow/tfjs-node-gpu/package.json"), "utf8"),
  );
  const asked = /tfjs-node-gpu@(\S+)/.exec(readFileSync(join(root, "Dockerfile"), "utf8"))[1];
  if (gpu.version !== asked) throw new Error(`the GPU stage has tfjs-node-gpu ${gpu.version}, not ${asked}`);
  const wheels = join(work, "build-python/wheels");
  const wheel = readdirSync(wheels).find((file) => /^dataflex_mq-.*\.whl$/.test(file));
  if (wheel === undefined) throw new Error("build-python has made no wheel of dataflex_mq");
  const held = execFileSync("python3", ["-m", "zipfile", "-l", join(wheels, wheel)], { encoding: "utf8" });
  for (const file of ["dataflex_mq/host/__main__.py", "dataflex_mq/redis/scripts/lib.lua"])
    if (!held.includes(file)) throw new Error(`${wheel} lacks ${file}`);
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const checks = [
    [["--version"], (said) => said.trim() === version],
    [["components", "--json"], (said) => said.includes("advantage_magnitude")],
    // The whole way, on a private Redis: broker, workers and their compute threads out of the pruned folder.
    [["demo", "--steps", "2", "--json"], (said) => said.includes('"kind":"summary"')],
  ];
  for (const [args, holds] of checks) {
    const { status, stdout, stderr } = entry(args);
    if (status !== 0 || !holds(stdout)) throw new Error(`${args.join(" ")} ended with ${status}: ${stdout}${stderr}`);
  }
  console.log(
    `Dockerfile: ${checks.length} checks of the runtime stage passed, and the GPU stages have their packages`,
  );
} finally {
  rmSync(work, { recursive: true, force: true });
}
