import { readFileSync } from "node:fs";
import type { Redis } from "ioredis";

/**
 * The Lua scripts, one atomic step each. The number in a file's name is its count of KEYS; the header of each file lists KEYS,
 * ARGV and answers, and is part of the protocol (docs/protocol.md section 5).
 */
const SCRIPTS = {
  mount: { file: "mount-4.lua", keys: 4 },
  restore: { file: "restore-3.lua", keys: 3 },
  heartbeat: { file: "heartbeat-3.lua", keys: 3 },
  commitPut: { file: "commit-put-5.lua", keys: 5 },
  begin: { file: "begin-2.lua", keys: 2 },
  settle: { file: "settle-7.lua", keys: 7 },
  restoreState: { file: "restore-state-2.lua", keys: 2 },
  release: { file: "release-4.lua", keys: 4 },
  record: { file: "record-4.lua", keys: 4 },
  lead: { file: "lead-1.lua", keys: 1 },
} as const;
export type ScriptName = keyof typeof SCRIPTS;
export const SCRIPT_FILES: readonly string[] = Object.values(SCRIPTS).map((s) => s.file);

type Arg = string | number | Uint8Array;
/** What a script answers: numbers, bulk strings as Buffers, nested arrays. */
export type Reply = number | Buffer | null | Reply[];

const here = new URL(".", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, here), "utf8");
const lib = read("lib.lua");
export const scriptSource = (name: ScriptName): string => `${lib}\n${read(SCRIPTS[name].file)}`;

const command = (name: ScriptName): string => `dfx_${name}`;

/** Teaches a connection the scripts; ioredis sends EVALSHA and falls back to EVAL after a server's restart. */
export function defineScripts(redis: Redis): void {
  for (const name of Object.keys(SCRIPTS) as ScriptName[]) {
    redis.defineCommand(command(name), { numberOfKeys: SCRIPTS[name].keys, lua: scriptSource(name) });
  }
}

/** Runs a script; the first element of its answer, always a word, comes as a string. */
export async function runScript(
  redis: Redis,
  name: ScriptName,
  keys: readonly string[],
  args: readonly Arg[],
): Promise<{ word: string; rest: Reply[] }> {
  if (keys.length !== SCRIPTS[name].keys)
    throw new Error(`${name} takes ${SCRIPTS[name].keys} keys, got ${keys.length}`);
  const buffers = args.map((a) =>
    a instanceof Uint8Array && !Buffer.isBuffer(a) ? Buffer.from(a.buffer, a.byteOffset, a.byteLength) : a,
  );
  // defineCommand adds methods that no type can know of; this is the one place that calls them.
  const call = (redis as unknown as Record<string, (...a: unknown[]) => Promise<Reply>>)[`${command(name)}Buffer`];
  if (!call) throw new Error(`defineScripts was not called on this connection: ${name}`);
  const reply = (await call.call(redis, ...keys, ...buffers)) as Reply[];
  const [word, ...rest] = reply;
  return { word: String(word), rest };
}

/** A reply element that holds text or a number. */
export const text = (reply: Reply | undefined): string => String(reply ?? "");
export const number = (reply: Reply | undefined): number => Number(reply ?? Number.NaN);
