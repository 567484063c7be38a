import type { Redis } from "ioredis";
import { rowsOf } from "../columns/field-value.js";
import { countRows } from "../columns/row-ranges.js";
import type { FieldValue } from "../columns/tensor.js";
import { defined } from "../defined.js";
import { DataflexError } from "../errors.js";
import type { Handle } from "../protocol/messages.js";
import type { Stage } from "../protocol/stages.js";
import type { CommitOptions } from "../redis/scripts/commit-put.js";
import type { PutReceipt } from "./neutral.js";
import type { OpenSteps, PutMeaning } from "./open-steps.js";
import { planRows } from "./plan-rows.js";
import { type PreparedPut, preparePut } from "./prepare.js";
import { sendPut } from "./put.js";
import type { PutOptions } from "./run-options.js";

interface Posting {
  readonly stepKey: string;
  readonly stage: Stage;
  readonly fields: Readonly<Record<string, FieldValue>>;
  /** What rides along with them (`ridingSessions`). */
  readonly sessions: Readonly<Record<string, FieldValue>>;
  readonly options: PutOptions;
}

/** What a put is sent as, and how it was meant. */
interface Prepared {
  readonly put: PreparedPut;
  readonly meaning: PutMeaning;
  readonly commit: Pick<CommitOptions, "table" | "span">;
}

/**
 * Sends a put, encoded once however often it is called, and has `steps` keep a copy of what was committed. Errors: as `Run.put`.
 */
export function posting(redis: Redis, handle: Handle, steps: OpenSteps, posting: Posting): () => Promise<PutReceipt> {
  const { stepKey, options } = posting;
  let prepared: Prepared | undefined;
  const send = async (): Promise<PutReceipt> => {
    prepared ??= await prepare(handle, steps, posting, false);
    const { put, meaning, commit } = prepared;
    const replace = options.replace ?? false;
    const floor = steps.attempt(stepKey);
    const done = await sendPut(redis, handle, put, { step: stepKey, ...commit, replace, floor });
    steps.keep(stepKey, put, meaning, done);
    return { sent: [...put.fields], attempt: done.attempt, kind: done.kind };
  };
  return async () => {
    try {
      return await send();
    } catch (error) {
      if (!options.keys || !fixedByAnother(error)) throw error;
      prepared = await prepare(handle, steps, posting, true);
      return send();
    }
  };
}

/** Another producer has fixed the step's rows first: read its table, and put the rows in that order. */
function fixedByAnother(error: unknown): boolean {
  if (!(error instanceof DataflexError) || error.code !== "ROWS_CONFLICT") return false;
  return ["keys", "stage_rows"].includes(String(error.details.reason));
}

async function prepare(
  handle: Handle,
  steps: OpenSteps,
  { stepKey, stage, fields, sessions, options }: Posting,
  fresh: boolean,
): Promise<Prepared> {
  const { lengths, is_padding } = options;
  const [first] = Object.values(fields) as [FieldValue];
  const fixed = () => steps.fixed(stepKey, stage, fresh);
  const { plan, table, total, span } = await planRows(rowsOf(first), options, stage, handle.limits.max_rows, fixed);
  const { ranges, order } = plan;
  const put = preparePut(handle, {
    stage,
    fields,
    sessions,
    total_rows: total,
    ranges,
    ...defined({ order, lengths, is_padding }),
    mask: () => steps.maskOf(stepKey, stage, ranges),
  });
  const asPut = span || countRows(ranges) === total ? options.keys : undefined;
  return { put, meaning: { stage, table, order: asPut, span: span && ranges }, commit: { table, span } };
}
