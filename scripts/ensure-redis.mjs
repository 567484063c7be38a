// The demo and the tests need a Redis server of their own to start. Installs one through apt where that is possible, otherwise says the one
// line to type. Plain JavaScript and no imports of ours: it runs before anything is built.
import { spawnSync } from "node:child_process";

const has = (name) => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0;

if (!has("valkey-server") && !has("redis-server")) {
  const root = process.getuid?.() === 0;
  if (!root || !has("apt-get")) {
    console.error(
      "No Redis server is installed. Type:  sudo apt-get install -y redis-server   (macOS: brew install redis)",
    );
    process.exit(2);
  }
  console.error("installing redis-server through apt …");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const run = (...args) => spawnSync("apt-get", args, { stdio: ["ignore", "ignore", "inherit"], env }).status === 0;
  const install = () => run("install", "-y", "--no-install-recommends", "redis-server");
  if (!install() && !(run("update") && install())) {
    console.error("apt could not install redis-server; install it by hand and try again");
    process.exit(2);
  }
}
