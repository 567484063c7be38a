import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { DataflexError } from "../errors.js";
import { connect } from "./connect.js";

export interface PrivateRedis {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Servers that speak the protocol, in order of preference. */
export const SERVERS = ["valkey-server", "redis-server"] as const;

const INSTALL_LINE = "apt-get install -y redis-server   (macOS: brew install redis)";

function findRedisServer(path = process.env.PATH ?? ""): string | undefined {
  for (const name of SERVERS) {
    for (const folder of path.split(delimiter)) {
      const file = join(folder, name);
      try {
        accessSync(file, constants.X_OK);
        return file;
      } catch {}
    }
  }
  return undefined;
}

/**
 * The guard that starts the server and outlives this process just long enough to stop it: its standard input is a pipe from
 * here, which ends when this process ends, however it ends. Then it kills the server with SIGKILL: nothing has to be kept, and a server
 * may refuse a polite request (one that writes its first append-only file does). When the server has ended, for whatever reason, it
 * removes the folder and ends too.
 */
const GUARD = `exec 3<&0
dir=$1; shift
"$@" </dev/null >/dev/null 2>&1 3<&- &
child=$!
printf '%s\\n' "$child"
(read _ <&3; kill -9 "$child" 2>/dev/null) &
watch=$!
wait "$child" 2>/dev/null
kill "$watch" 2>/dev/null
rm -rf "$dir"`;

/**
 * Starts a Redis of our own: a unix socket in a folder of mode 0700, no TCP port, nothing persisted, `noeviction`.
 * Errors: REDIS_UNREACHABLE with the command that installs a server, or if it does not come up within 10 s.
 */
export async function startPrivateRedis(extra: readonly string[] = []): Promise<PrivateRedis> {
  const server = findRedisServer();
  if (!server) {
    throw new DataflexError(
      "REDIS_UNREACHABLE",
      `neither ${SERVERS.join(" nor ")} is installed. Install one: ${INSTALL_LINE}`,
    );
  }
  // A unix socket's path is limited to about 100 bytes, so a deep TMPDIR falls back to /tmp.
  const base = tmpdir().length > 60 ? "/tmp" : tmpdir();
  const dir = mkdtempSync(join(base, "dataflex-mq-"));
  const socket = join(dir, "redis.sock");
  const args = [
    "--port",
    "0",
    "--unixsocket",
    socket,
    "--unixsocketperm",
    "700",
    "--dir",
    dir,
    "--save",
    "",
    "--appendonly",
    "no",
  ];
  const guard = spawn(
    "sh",
    ["-c", GUARD, "guard", dir, server, ...args, "--maxmemory-policy", "noeviction", ...extra],
    {
      stdio: ["pipe", "pipe", "ignore"],
      detached: true,
    },
  );
  const pid = Number(await firstLine(guard));
  const early = new Promise<never>((_, reject) => {
    const reason = `${server} ended as soon as it was started. Type it to see why: ${[server, ...args, ...extra].join(" ")}`;
    guard.once("exit", () => reject(new DataflexError("REDIS_UNREACHABLE", reason)));
  });
  early.catch(() => {});
  guard.stdout?.destroy();
  guard.unref();
  const url = `unix://${socket}`;
  const stop = async (): Promise<void> => {
    if (guard.exitCode !== null || guard.signalCode !== null) return;
    const exited = new Promise<void>((resolve) => guard.once("exit", () => resolve()));
    guard.ref();
    guard.stdin?.end();
    await exited;
  };
  try {
    await Promise.race([waitForSocket(url), early]);
  } catch (error) {
    await stop();
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
  return { url, pid, stop };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (data: Buffer) => {
      text += data;
      if (text.includes("\n")) resolve(text.trim());
    });
    child.once("error", reject);
    child.once("exit", () =>
      reject(new DataflexError("REDIS_UNREACHABLE", "the private Redis ended before it started")),
    );
  });
}

async function waitForSocket(url: string): Promise<void> {
  const redis = await connect(url, "command", { connectTimeoutMs: 10_000, name: "probe" });
  await redis.quit();
}
