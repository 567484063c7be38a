import { parseNotice } from "../../src/broker/notice.js";
import { decodeOutcome } from "../../src/client/outcomes.js";
import { decodeColumns } from "../../src/columns/decode.js";
import { DEFAULT_LIMITS } from "../../src/columns/limits.js";
import { DataflexError } from "../../src/errors.js";
import { resolveMount } from "../../src/mounting/catalogue/resolve.js";
import { workerCatalogues } from "../../src/mounting/catalogue/worker-catalogues.js";
import { parseConfig } from "../../src/mounting/config/load-config.js";
import { extremesOf, recordOf } from "../../src/observe/history/history-record.js";
import { buildApp } from "../../src/observe/http/http-server.js";
import {
  checkHandle,
  checkJobData,
  checkMountReply,
  checkMountRequest,
  checkOutcomeHeader,
  checkPutHeader,
} from "../../src/protocol/check-messages.js";
import { pack, unpack } from "../../src/protocol/codec.js";
import { checkSaved, unpackEntry } from "../../src/protocol/saved-state.js";
import { BODY, EXAMPLES, HANDLE } from "./fuzz-examples.js";

/** What one input may take, and what the heap may grow by over all of them. */
const MOST_MS = 1_000;
const MOST_BYTES = 512 << 20;

type Random = () => number;
type Reader = (bytes: Uint8Array, value: unknown, random: Random) => unknown;

const catalogues = await workerCatalogues([]);
const app = buildApp({
  role: "worker",
  metrics: { contentType: "text/plain", text: async () => "" },
  health: async () => [],
  ready: async () => [],
});

/** A body with one byte of it changed. */
const bodyOf = (random: Random): Uint8Array => {
  const body = Uint8Array.from(BODY);
  body[Math.floor(random() * body.length)]! ^= [0, 1, 0x80, 0xff][Math.floor(random() * 4)]!;
  return body;
};
const notice = (kind: string, header: Uint8Array, text: string): void => {
  const flat = { kind, run: text, inc: "1", step: "1.0", pipeline: text, ms: text };
  const fields = Object.fromEntries(Object.entries(flat).map(([name, value]) => [name, Buffer.from(value)]));
  const read = parseNotice({ id: "1-1", fields: { ...fields, header: Buffer.from(header) } });
  if (read) JSON.stringify([recordOf(read), extremesOf(read)]);
};

/** Each kind of message: what reads it where it enters a process. */
const READERS: Readonly<Record<keyof typeof EXAMPLES, Reader>> = {
  put: (bytes, _, random) => decodeColumns(checkPutHeader(unpack(bytes)).columns, bodyOf(random), DEFAULT_LIMITS),
  mount: (bytes) => checkMountRequest(unpack(bytes)),
  settings: (bytes) => resolveMount({ dataflex: unpack(bytes), mode: "live" }, catalogues),
  file: (_, value) => parseConfig(String(JSON.stringify(value)), "x.yaml"),
  job: (bytes) => checkJobData(unpack(bytes)),
  result: (bytes, _, random) =>
    decodeOutcome(HANDLE, { header: checkOutcomeHeader(unpack(bytes)), body: bodyOf(random) }),
  failure: (bytes, _, random) =>
    decodeOutcome(HANDLE, { header: checkOutcomeHeader(unpack(bytes)), body: bodyOf(random) }),
  handle: (bytes) => checkHandle(unpack(bytes)),
  reply: (bytes) => checkMountReply(unpack(bytes)),
  state: (bytes) => unpackEntry(bytes),
  saved: (_, value) => checkSaved(value),
  settled: (bytes, value) => notice("settled", bytes, String(JSON.stringify(value)).slice(0, 9)),
  mounted: (bytes) => notice("mounted", bytes, "r"),
  released: (bytes) => notice("released", bytes, "r"),
  http: async (bytes, value, random) => {
    const url = `/${["metrics", "healthz", "readyz", "api/v1/runs"][Math.floor(random() * 4)]}?${encodeURIComponent(JSON.stringify(value)?.slice(0, 2_000) ?? "")}`;
    const method = (["GET", "POST", "PUT", "DELETE"] as const)[Math.floor(random() * 4)]!;
    const headers = { "content-type": ["application/json", "text/plain"][Math.floor(random() * 2)]! };
    const { statusCode } = await app.inject({ method, url, headers, payload: Buffer.from(bytes) });
    if (statusCode >= 500) throw new Error(`${method} ${url} answered ${statusCode}`);
  },
};

const HOSTILE: readonly unknown[] = [
  ...[
    null,
    true,
    -1,
    0,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 31,
    2 ** 53,
    1e300,
    "",
    "x",
    "\0",
    "constructor",
  ],
  ...[
    "é".repeat(40),
    "__proto__",
    new Uint8Array(0),
    Uint8Array.of(255, 254),
    [],
    [[]],
    {},
    { a: 1 },
    [0, 2 ** 32],
    "9".repeat(400),
  ],
  ...[{ toString: 1 }, Array.from({ length: 9 }, () => [0, 8]), "1.0", "\ud83d\ude00"],
];

/** One place of a message is another value, or gone. */
function mutated(value: unknown, random: Random): unknown {
  const other = (): unknown => structuredClone(HOSTILE[Math.floor(random() * HOSTILE.length)]);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return other();
  const keys = Object.keys(value);
  if (keys.length === 0 || random() < 0.1) return other();
  const key = keys[Math.floor(random() * keys.length)]!;
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  if (random() < 0.1) {
    if (Array.isArray(copy)) copy.splice(Number(key), 1);
    else delete copy[key];
  } else copy[key] = mutated(copy[key], random);
  return copy;
}

function inputOf(example: unknown, random: Random): { value: unknown; bytes: Uint8Array } {
  let value = example;
  for (let times = 1 + Math.floor(random() ** 3 * 4); times > 0; times--) value = mutated(value, random);
  const bytes = Uint8Array.from(pack(value));
  if (bytes.length > 0)
    for (let times = Math.floor(random() ** 3 * 4); times > 0; times--)
      bytes[Math.floor(random() * bytes.length)] = random() * 256;
  return { value, bytes: random() < 0.05 ? bytes.subarray(0, Math.floor(random() * bytes.length)) : bytes };
}

/** A generator from a seed (mulberry32). */
function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export interface Told {
  readonly taken: number;
  readonly refused: number;
  readonly slowest_ms: number;
  readonly most_bytes: number;
}

/** How many inputs were taken and refused. @throws Error at an untyped error, a slow input, or one that takes memory */
export async function fuzz(inputs: number, seed: number): Promise<Told> {
  const random = seeded(seed);
  const kinds = Object.keys(READERS) as (keyof typeof EXAMPLES)[];
  const told = { taken: 0, refused: 0, slowest_ms: 0, most_bytes: 0 };
  const before = process.memoryUsage();
  for (let i = 0; i < inputs; i++) {
    const kind = kinds[i % kinds.length]!;
    const { value, bytes } = inputOf(EXAMPLES[kind], random);
    const begun = performance.now();
    try {
      await READERS[kind](bytes, value, random);
      told.taken++;
    } catch (error) {
      if (!(error instanceof DataflexError))
        throw new Error(`${kind}, input ${i} of seed ${seed}: ${Buffer.from(bytes).toString("base64")}`, {
          cause: error,
        });
      told.refused++;
    }
    const took = performance.now() - begun;
    if (took > MOST_MS) throw new Error(`${kind}, input ${i} of seed ${seed} took ${took} ms`);
    told.slowest_ms = Math.max(told.slowest_ms, Math.round(took));
    if (i % 500 !== 0) continue;
    const now = process.memoryUsage();
    const grown = now.heapUsed + now.arrayBuffers - before.heapUsed - before.arrayBuffers;
    told.most_bytes = Math.max(told.most_bytes, grown);
    if (grown > MOST_BYTES) throw new Error(`${kind}, input ${i} of seed ${seed}: ${grown} bytes more are held`);
  }
  return told;
}
