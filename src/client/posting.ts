import type { Redis } from "ioredis";
import { rowsOf } from "../columns/field-value.js";
import { countRows } from "../columns/row-ranges.js";
import type { FieldValue } from "../columns/tensor.js";
import { defined } from "../defined.js";
import { DataflexError } from "../errors.js";
import type { Handle } from "../protocol/messages.js";
import type { Stage } from "../protocol/stages.js";
import type { PutReceipt } from "./neutral.js";
import type { OpenSteps } from "./open-steps.js";
import { planRows } from "./plan-rows.js";
import { preparePut } from "./prepare.js";
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

/** From a trainer's fields to a committed put, of which `steps` keeps a copy. Errors: as `Run.put`. */
export async function post(redis: Redis, handle: Handle, steps: OpenSteps, posting: Posting): Promise<PutReceipt> {
  try {
    return await postOnce(redis, handle, steps, posting, false);
  } catch (error) {
    if (!posting.options.keys || !fixedByAnother(error)) throw error;
    return postOnce(redis, handle, steps, posting, true);
  }
}

/** Another producer has fixed the step's rows first: read its table, and put the rows in that order. */
function fixedByAnother(error: unknown): boolean {
  if (!(error instanceof DataflexError) || error.code !== "ROWS_CONFLICT") return false;
  return ["keys", "stage_rows"].includes(String(error.details.reason));
}

async function postOnce(
  redis: Redis,
  handle: Handle,
  steps: OpenSteps,
  { stepKey, stage, fields, sessions, options }: Posting,
  fresh: boolean,
): Promise<PutReceipt> {
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
  const commit = { step: stepKey, table, span, replace: options.replace ?? false, floor: steps.attempt(stepKey) };
  const done = await sendPut(redis, handle, put, commit);
  const asPut = span || countRows(ranges) === total ? options.keys : undefined;
  steps.keep(stepKey, put, { stage, table, order: asPut, span: span && ranges }, done);
  return { sent: [...put.fields], attempt: done.attempt, kind: done.kind };
}
