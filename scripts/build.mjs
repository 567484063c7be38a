// Builds dist/: TypeScript by tsc, the Lua scripts beside their loader, the command's file made executable. Plain JavaScript, since it is
// what `npm ci` runs first.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
process.chdir(root);
rmSync("dist", { recursive: true, force: true });
const tsc = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"], {
  stdio: "inherit",
});
if (tsc.status !== 0) process.exit(tsc.status ?? 1);
mkdirSync("dist/src/redis/scripts", { recursive: true });
for (const file of readdirSync("src/redis/scripts")) {
  if (file.endsWith(".lua")) cpSync(`src/redis/scripts/${file}`, `dist/src/redis/scripts/${file}`);
}
chmodSync("dist/src/cli/main.js", 0o755);
