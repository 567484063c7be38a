// Builds dist/: TypeScript by tsc, the Lua scripts beside their loader, the page's files with uPlot beside them, the command's file made
// executable. Plain JavaScript, since it is what `npm ci` runs first.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
process.chdir(root);
rmSync("dist", { recursive: true, force: true });
for (const project of ["tsconfig.build.json", "src/observe/page/tsconfig.json"]) {
  const noEmit = project.startsWith("src") ? ["--noEmit", "false"] : [];
  const tsc = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", project, ...noEmit], {
    stdio: "inherit",
  });
  if (tsc.status !== 0) process.exit(tsc.status ?? 1);
}
mkdirSync("dist/src/redis/scripts", { recursive: true });
for (const file of readdirSync("src/redis/scripts")) {
  if (file.endsWith(".lua")) cpSync(`src/redis/scripts/${file}`, `dist/src/redis/scripts/${file}`);
}
for (const file of readdirSync("src/observe/page")) {
  if (/\.(html|svg)$/.test(file)) cpSync(`src/observe/page/${file}`, `dist/src/observe/page/${file}`);
}
cpSync("src/observe/page/style", "dist/src/observe/page/style", { recursive: true });
mkdirSync("dist/src/observe/page/vendor", { recursive: true });
cpSync("node_modules/uplot/dist/uPlot.esm.js", "dist/src/observe/page/vendor/uplot.js");
cpSync("node_modules/uplot/dist/uPlot.min.css", "dist/src/observe/page/vendor/uplot.css");
cpSync("node_modules/uplot/LICENSE", "dist/src/observe/page/vendor/uplot.LICENSE");
chmodSync("dist/src/commands/cli/main.js", 0o755);
