import type { Redis } from "ioredis";
import type { Handle, PutHeader } from "../../protocol/messages.js";
import { runKeys } from "../keys.js";
import { type FencedWord, number, runScript, text } from "./run-script.js";

export interface PutToCommit {
  readonly header: PutHeader;
  /** The header as readers get it. */
  readonly headerBytes: Uint8Array;
  readonly fields: readonly string[];
  readonly bitmap: Uint8Array;
}

export interface CommitOptions {
  readonly step: string;
  /** Row keys of the step, packed, and their digest. */
  readonly table: { readonly digest: string; readonly blob: Uint8Array } | undefined;
  /** Bitmap of the table's rows that the put's stage covers; undefined: as in the stage's first put, or all. */
  readonly span: Uint8Array | undefined;
  readonly replace: boolean;
  /** The highest attempt of the step that this client has seen: Redis never falls behind it, whatever data it has lost. */
  readonly floor: number;
}

export interface Committed {
  readonly attempt: number;
  readonly kind: "NEW" | "DUPLICATE" | "REPLACED";
}

/** `facts`: the rest of the answer, as the script's header lists it. */
export type CommitAnswer =
  | ({ readonly word: "OK" } & Committed)
  | {
      readonly word: FencedWord | "RELEASED" | "CHUNKS_MISSING" | "ROWS_CONFLICT" | "PUT_CONFLICT";
      readonly facts: readonly string[];
    };

/** Makes an uploaded put part of its step. */
export async function commitPut(
  redis: Redis,
  handle: Handle,
  put: PutToCommit,
  options: CommitOptions,
): Promise<CommitAnswer> {
  const { header } = put;
  const { table } = options;
  const keys = runKeys(handle.run);
  const step = keys.step(handle.incarnation, options.step);
  const { word, rest } = await runScript(
    redis,
    "commitPut",
    [keys.mount, step.status, step.puts, step.put(header.stage, header.id, header.hash), keys.announce, keys.steps],
    [
      ...[handle.incarnation, handle.run, options.step, header.stage, header.id, header.hash],
      ...[header.chunks, header.bytes, put.headerBytes, header.total_rows, table?.digest ?? "", table?.blob ?? ""],
      ...[put.fields.join(","), put.bitmap, options.replace ? 1 : 0, handle.limits.step_ttl_ms, handle.max_wait_ms],
      ...[options.span ?? "", options.floor],
    ],
  );
  if (word !== "OK") return { word, facts: rest.map(text) };
  return { word, attempt: number(rest[0]), kind: text(rest[1]) as Committed["kind"] };
}
