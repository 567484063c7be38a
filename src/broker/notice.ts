import { checkOutcomeHeader, checkReleaseReport } from "../protocol/check-messages.js";
import { unpack } from "../protocol/codec.js";
import type { OutcomeHeader } from "../protocol/messages.js";
import type { CombinedReport } from "../protocol/statistics-messages.js";
import { checkMountReport, type MountReport } from "../redis/mount-report.js";
import type { Entry } from "../redis/streams.js";

interface NoticeBase {
  /** Of the entry in the notices stream: one notice, one id, wherever it is passed on. */
  readonly id: string;
  readonly run: string;
  readonly incarnation: number;
  /** Redis time in ms. */
  readonly at: number;
}
interface StepNotice extends NoticeBase {
  /** `(global_steps, trigger)` as in keys. */
  readonly step: string;
}
/** A trainer has mounted the run: for the first time, again, or with other settings. */
interface MountedNotice extends NoticeBase, MountReport {
  readonly kind: "mounted";
}
/** A pipeline's step got its outcome. `ms`: since the step's first put. */
export interface SettledNotice extends StepNotice {
  readonly kind: "settled";
  readonly pipeline: string;
  readonly header: OutcomeHeader;
  readonly ms: number;
}
/** The trainer is done with a step, and says how long it waited for its weights. */
export interface ReleasedNotice extends StepNotice {
  readonly kind: "released";
  readonly wait_ms: number;
  /** The composed weights, from clients that report them. */
  readonly combined?: CombinedReport;
  /** The step trained without weights: the error's code. */
  readonly neutral?: string;
  readonly unreported?: number;
}
export type Notice = MountedNotice | SettledNotice | ReleasedNotice;

const STEP = /^\d+\.\d+$/;

/** Reads an entry of the notices stream; undefined if this version does not know it, or it is malformed. Never throws. */
export function parseNotice(entry: Entry): Notice | undefined {
  try {
    return read(entry);
  } catch {
    return undefined;
  }
}

function read({ id, fields }: Entry): Notice | undefined {
  const text = (name: string): string => fields[name]?.toString() ?? "";
  const about = { id, run: text("run"), incarnation: Number(text("inc")), at: Number(id.split("-", 1)[0]) };
  if (about.run === "" || !Number.isSafeInteger(about.incarnation)) return undefined;
  const header = unpack(fields.header ?? new Uint8Array());
  if (text("kind") === "mounted") return { ...about, kind: "mounted", ...checkMountReport(header) };
  const base = { ...about, step: text("step") };
  if (!STEP.test(base.step)) return undefined;
  if (text("kind") === "released") return { ...base, kind: "released", ...checkReleaseReport(header) };
  if (text("kind") !== "settled") return undefined;
  const outcome = checkOutcomeHeader(header);
  return { ...base, kind: "settled", pipeline: text("pipeline"), header: outcome, ms: Number(text("ms") || "NaN") };
}
