import { createHash } from "node:crypto";
import type { Stage } from "../protocol/stages.js";

/**
 * Every name this system uses in Redis. `dfx2` carries the protocol major: another major never meets these keys. `{tag}` is one
 * hash tag per shard of the key space, so that a run's steps, announcements and notices share a slot and one script can
 * commit and announce. BullMQ's keys have a tag of their own (`{q}`); no operation spans the two. docs/protocol.md section 5
 * lists the same table; a test compares them.
 */
export const PREFIX = "dfx2";

export const KEY_TABLE = [
  { key: "dfx2:control", type: "stream", ttl: "none", holds: "mount requests; entries are deleted once answered" },
  { key: "dfx2:reply:<mount_id>", type: "string", ttl: "60 s", holds: "the answer to one mount request" },
  { key: "dfx2:brokers", type: "zset", ttl: "none", holds: "broker ids by heartbeat expiry (Redis ms)" },
  { key: "dfx2:workers", type: "zset", ttl: "none", holds: "worker ids by heartbeat expiry (Redis ms)" },
  { key: "dfx2:broker:<id>", type: "string", ttl: "10 s", holds: "heartbeat of a broker" },
  {
    key: "dfx2:worker:<id>",
    type: "string",
    ttl: "10 s",
    holds: "heartbeat: fingerprints, backend and device, slots, jobs, tensors, loop lag, HTTP address",
  },
  { key: "dfx2:catalogue:<fingerprint>", type: "string", ttl: "1 h", holds: "catalogue entries, as data" },
  { key: "dfx2:leader", type: "string", ttl: "10 s", holds: "lease of the broker that exports shared facts" },
  {
    key: "dfx2:{tag}:announce",
    type: "stream",
    ttl: "none",
    holds: "one entry per committed put; deleted once handled",
  },
  {
    key: "dfx2:{tag}:dead",
    type: "stream",
    ttl: "none",
    holds: "announcements, mount requests and notices that could not be read; at most 1,000",
  },
  {
    key: "dfx2:{tag}:dead-jobs",
    type: "stream",
    ttl: "none",
    holds: "jobs that no worker could do, for `dataflex-mq dead`; about 1,000",
  },
  {
    key: "dfx2:{tag}:notices",
    type: "stream",
    ttl: "none",
    holds: "what mount, settle and release report; about 10,000 entries",
  },
  {
    key: "dfx2:{tag}:notices-read",
    type: "string",
    ttl: "none",
    holds: "id of the last notice that a leading broker has taken in",
  },
  {
    key: "dfx2:{tag}:errors",
    type: "stream",
    ttl: "none",
    holds: "failures of any run, under their notices' ids; about 500 entries",
  },
  {
    key: "dfx2:{tag}:history:<run>",
    type: "stream",
    ttl: "7 d",
    holds: "one record a step and pipeline, under its notice's id; about 20,000 entries",
  },
  {
    key: "dfx2:{tag}:history-rows:<run>",
    type: "stream",
    ttl: "7 d",
    holds: "lowest and highest weighted rows of a record, under its id; about 2,000 entries",
  },
  { key: "dfx2:{tag}:runs", type: "zset", ttl: "none", holds: "encoded run ids by time of their last mount" },
  {
    key: "dfx2:{tag}:<run>:mount",
    type: "hash",
    ttl: "24 h",
    holds: "incarnation, mount id, handle, what each pipeline needs",
  },
  {
    key: "dfx2:{tag}:<run>:claim:<mount_id>",
    type: "string",
    ttl: "60 s",
    holds: "who asks for this mount may write the run's keys",
  },
  { key: "dfx2:{tag}:<run>:trainer", type: "string", ttl: "10 s", holds: "heartbeat of the trainer: its incarnation" },
  {
    key: "dfx2:{tag}:<run>:steps",
    type: "zset",
    ttl: "24 h",
    holds: "open steps `<inc>:<step>` by deadline (Redis ms)",
  },
  {
    key: "dfx2:{tag}:<run>:mix:<pipeline>",
    type: "hash",
    ttl: "7 d",
    holds:
      "state of a pipeline that remembers: `<step>` → what that step said, `head` → who wrote last, `rev` → which rewriting it has seen",
  },
  {
    key: "dfx2:{tag}:<run>:<inc>:<step>:status",
    type: "hash",
    ttl: "step",
    holds: "row tables, bitmaps, contents, settled pipelines, attempt, deadline",
  },
  {
    key: "dfx2:{tag}:<run>:<inc>:<step>:puts",
    type: "hash",
    ttl: "step",
    holds: "the step's puts: hash, attempt, size and fields of each, and its header",
  },
  {
    key: "dfx2:{tag}:<run>:<inc>:<step>:<stage>:<put>",
    type: "stream",
    ttl: "step",
    holds: "chunks of one put, entries 0-1 … 0-n",
  },
  {
    key: "dfx2:{tag}:<run>:<inc>:<step>:w:<pipeline>:<token>",
    type: "stream",
    ttl: "step",
    holds: "result chunks, invisible until settled",
  },
  {
    key: "dfx2:{tag}:<run>:<inc>:<step>:out",
    type: "stream",
    ttl: "step",
    holds: "outcomes, one entry per settled pipeline",
  },
] as const;

/** The group with which brokers read `control` and `announce`; it starts at 0, so that nothing that was posted before the first broker is lost. */
export const BROKER_GROUP = "broker";

export const HEARTBEAT_MS = 3_000;
export const HEARTBEAT_TTL_MS = 10_000;
export const REPLY_TTL_MS = 60_000;
/** A client that still waits claims again every few seconds. */
export const CLAIM_TTL_MS = 60_000;
export const CATALOGUE_TTL_MS = 3_600_000;
/** The leading broker's lease, renewed with every heartbeat: three may be missed. */
export const LEASE_MS = 10_000;
export const MOUNT_TTL_MS = 86_400_000;
/** Length of a history: 5,000 steps of a run with three pipelines (each step has one more record, of its release). */
export const HISTORY_ENTRIES = 20_000;
export const HISTORY_ROWS_ENTRIES = 2_000;
export const HISTORY_TTL_MS = 7 * 86_400_000;
export const ERROR_ENTRIES = 500;
/** A run that stopped on Friday can continue on Monday: domain statistics are small. */
export const STATE_TTL_MS = 7 * 86_400_000;

/** One life of a run's trainer, and one of its steps: `step` as in keys (`stepKeyOf`). */
export interface RunRef {
  readonly run: string;
  readonly incarnation: number;
}
export interface StepRef extends RunRef {
  readonly step: string;
}

/** Words in the place of a run's name in keys of histories: a run of that name would share keys with all histories. */
const TAKEN = /^(history|history-rows)$/;

/**
 * Any run id as `[A-Za-z0-9._-]{1,96}`, injectively: other bytes become `.xx`, and a long id ends in a hash of the whole. The
 * first letter of a reserved word becomes `.xx` too.
 */
export function encodeRun(run: string): string {
  if (TAKEN.test(run)) return `.68${run.slice(1)}`;
  const bytes = new TextEncoder().encode(run);
  let out = "";
  for (const b of bytes) {
    const plain = (b >= 48 && b <= 57) || (b >= 65 && b <= 90) || (b >= 97 && b <= 122) || b === 45 || b === 95;
    out += plain ? String.fromCharCode(b) : `.${b.toString(16).padStart(2, "0")}`;
  }
  if (out.length <= 96) return out;
  return `${out.slice(0, 60)}..${createHash("sha256").update(bytes).digest("hex").slice(0, 32)}`;
}

/** `(global_steps, trigger)` as it appears in keys and job ids. */
export function stepKeyOf(step: number, trigger = 0): string {
  return `${step}.${trigger}`;
}
export function parseStepKey(key: string): { step: number; trigger: number } {
  const [step, trigger] = key.split(".");
  return { step: Number(step), trigger: Number(trigger) };
}

/** A step's name in the index of open steps. */
export const stepMember = ({ incarnation, step }: Omit<StepRef, "run">): string => `${incarnation}:${step}`;
export function parseStepMember(member: string): Omit<StepRef, "run"> {
  const colon = member.indexOf(":");
  return { incarnation: Number(member.slice(0, colon)), step: member.slice(colon + 1) };
}

/** CRC-16/XMODEM, the function Redis Cluster hashes keys with; here it spreads runs over `shards` tags. */
function crc16(text: string): number {
  let crc = 0;
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte << 8;
    for (let i = 0; i < 8; i++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return crc;
}

/** Keys that belong to no run. */
export const sharedKeys = {
  control: `${PREFIX}:control`,
  reply: (mountId: string) => `${PREFIX}:reply:${mountId}`,
  brokers: `${PREFIX}:brokers`,
  workers: `${PREFIX}:workers`,
  broker: (id: string) => `${PREFIX}:broker:${id}`,
  worker: (id: string) => `${PREFIX}:worker:${id}`,
  catalogue: (fingerprint: string) => `${PREFIX}:catalogue:${fingerprint}`,
  leader: `${PREFIX}:leader`,
} as const;

/** Keys of protocol 1, read only to refuse its trainers and workers. */
export const earlierKeys = {
  control: "dfx1:control",
  reply: (mountId: string) => `dfx1:reply:${mountId}`,
  workers: "dfx1:workers",
} as const;

export function tagKeys(tag: string) {
  const base = `${PREFIX}:{${tag}}`;
  return {
    base,
    announce: `${base}:announce`,
    dead: `${base}:dead`,
    deadJobs: `${base}:dead-jobs`,
    notices: `${base}:notices`,
    noticesRead: `${base}:notices-read`,
    runs: `${base}:runs`,
    errors: `${base}:errors`,
  };
}

/** Number of hash tags of the key space: 1, since clusters are not supported yet. */
const SHARDS = 1;
export const ALL_TAGS: readonly string[] = Array.from({ length: SHARDS }, (_, i) => String(i));

export function runKeys(run: string, shards = SHARDS): RunKeys {
  const encoded = encodeRun(run);
  return runKeysOf(String(crc16(encoded) % shards), encoded);
}

/** Keys of a run, from its name in the index of its tag. */
export function runKeysOf(tagName: string, encoded: string) {
  const tag = tagKeys(tagName);
  const base = `${tag.base}:${encoded}`;
  return {
    ...tag,
    encoded,
    runBase: base,
    mount: `${base}:mount`,
    claim: (mountId: string) => `${base}:claim:${mountId}`,
    trainer: `${base}:trainer`,
    steps: `${base}:steps`,
    history: `${tag.base}:history:${encoded}`,
    historyRows: `${tag.base}:history-rows:${encoded}`,
    state: (pipeline: string) => `${base}:mix:${pipeline}`,
    step: (incarnation: number, step: string) => stepKeys(base, incarnation, step),
  };
}
export type RunKeys = ReturnType<typeof runKeysOf>;

/** Digits of a content hash that distinguish the puts of one step. */
export const HASH_DIGITS = 16;

function stepKeys(runBase: string, incarnation: number, step: string) {
  const prefix = `${runBase}:${incarnation}:${step}:`;
  return {
    prefix,
    status: `${prefix}status`,
    puts: `${prefix}puts`,
    out: `${prefix}out`,
    /** `put` is `<put id>.<first 16 digits of the content hash>`: other content never gets into the same stream. */
    put: (stage: Stage, id: string, hash: string) => `${prefix}${stage}:${id}.${hash.slice(0, HASH_DIGITS)}`,
    result: (pipeline: string, token: string) => `${prefix}w:${pipeline}:${token}`,
  };
}
export type StepKeys = ReturnType<typeof stepKeys>;

/** BullMQ: one prefix with one hash tag for all queues, so that the nodes of a flow share a slot. */
export const QUEUE_PREFIX = `${PREFIX}:{q}`;
/** One queue per (stage, catalogue fingerprint): a worker opens only queues all of whose jobs it can do. */
export function queueName(stage: Stage, fingerprint: string): string {
  return `${stage}.${fingerprint}`;
}
/** Deterministic, without `:` and never an integer, both of which BullMQ refuses. */
export function jobId(job: {
  run: string;
  incarnation: number;
  step: string;
  pipeline: string;
  attempt: number;
  shard: readonly [number, number];
  content: string;
}): string {
  const { run, incarnation, step, pipeline, shard, attempt, content } = job;
  return [encodeRun(run), incarnation, step, pipeline, shard[0], attempt, content.slice(0, 12)].join("~");
}
