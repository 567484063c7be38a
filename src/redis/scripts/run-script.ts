import { readFileSync } from "node:fs";
import type { Redis } from "ioredis";

/** Why a trainer may not touch a run: another incarnation has it, or it is not mounted. */
export type FencedWord = "FENCED" | "NOT_MOUNTED";
const FENCED = ["FENCED", "NOT_MOUNTED"] as const;

/**
 * The Lua scripts, one atomic step each. The number in a file's name is its count of KEYS; the header of each file lists KEYS,
 * ARGV and answers, and is part of the protocol (docs/protocol.md section 5). Each has one function, in the file beside it, which alone
 * knows the order of its arguments. `words`: the words with which its answers may begin.
 */
export const SCRIPTS = {
  mount: { file: "mount-4.lua", keys: 4, words: ["OK", "SAME", "BUSY"] },
  restore: { file: "restore-3.lua", keys: 3, words: ["OK", "FENCED"] },
  heartbeat: { file: "heartbeat-3.lua", keys: 3, words: ["OK", ...FENCED] },
  commitPut: {
    file: "commit-put-6.lua",
    keys: 6,
    words: ["OK", ...FENCED, "RELEASED", "CHUNKS_MISSING", "ROWS_CONFLICT", "PUT_CONFLICT"],
  },
  begin: {
    file: "begin-3.lua",
    keys: 3,
    words: ["OK", ...FENCED, "GONE", "SETTLED", "STALE", "EXPIRED"],
  },
  settle: { file: "settle-7.lua", keys: 7, words: ["OK", ...FENCED, "GONE", "SETTLED", "STALE", "CHUNKS_MISSING"] },
  restoreState: { file: "restore-state-2.lua", keys: 2, words: ["OK", ...FENCED] },
  release: { file: "release-4.lua", keys: 4, words: ["OK", ...FENCED] },
  record: { file: "record-4.lua", keys: 4, words: ["OK", "NOT_MOUNTED"] },
  retry: { file: "retry-4.lua", keys: 4, words: ["OK", ...FENCED, "GONE", "NOT_FAILED"] },
  writeWhenFull: { file: "write-when-full-1.lua", keys: 1, words: ["OK"] },
  lead: { file: "lead-1.lua", keys: 1, words: ["NEW", "KEPT", "OTHER", "LEFT"] },
} as const;
export type ScriptName = keyof typeof SCRIPTS;
export type Word<N extends ScriptName> = (typeof SCRIPTS)[N]["words"][number];

type Arg = string | number | Uint8Array;
/** What a script answers: numbers, bulk strings as Buffers, nested arrays. */
export type Reply = number | Buffer | null | Reply[];

const here = new URL(".", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, here), "utf8");
const lib = read("lib.lua");
export const scriptSource = (name: ScriptName): string => `${lib}\n${read(SCRIPTS[name].file)}`;

const command = (name: ScriptName): string => `dfx_${name}`;

/** Registers the scripts on a connection; ioredis sends EVALSHA and falls back to EVAL after a restart of the server. */
export function defineScripts(redis: Redis): void {
  for (const name of Object.keys(SCRIPTS) as ScriptName[]) {
    redis.defineCommand(command(name), { numberOfKeys: SCRIPTS[name].keys, lua: scriptSource(name) });
  }
}

/** Runs a script; the first element of its answer, one of its words, is returned as a string. */
export async function runScript<N extends ScriptName>(
  redis: Redis,
  name: N,
  keys: readonly string[],
  args: readonly Arg[],
): Promise<{ word: Word<N>; rest: Reply[] }> {
  if (keys.length !== SCRIPTS[name].keys)
    throw new Error(`${name} takes ${SCRIPTS[name].keys} keys, got ${keys.length}`);
  const buffers = args.map((a) =>
    a instanceof Uint8Array && !Buffer.isBuffer(a) ? Buffer.from(a.buffer, a.byteOffset, a.byteLength) : a,
  );
  // defineCommand adds methods that the types do not know; this is the only place that calls them.
  const call = (redis as unknown as Record<string, (...a: unknown[]) => Promise<Reply>>)[`${command(name)}Buffer`];
  if (!call) throw new Error(`defineScripts was not called on this connection: ${name}`);
  const reply = (await call.call(redis, ...keys, ...buffers)) as Reply[];
  const [word, ...rest] = reply;
  return { word: String(word) as Word<N>, rest };
}

/** A reply element that holds text or a number. */
export const text = (reply: Reply | undefined): string => String(reply ?? "");
export const number = (reply: Reply | undefined): number => Number(String(reply ?? Number.NaN));
