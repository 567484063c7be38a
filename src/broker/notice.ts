import { unpack } from "../protocol/codec.js";
import type { CombinedReport, OutcomeHeader } from "../protocol/messages.js";
import type { MountReport } from "../redis/mount-report.js";
import type { Entry } from "../redis/streams.js";

interface NoticeBase {
  /** Of the entry in the notices stream: one notice, one id, wherever it is told on. */
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
/** A trainer has taken the run: a first time, anew, or with other settings. */
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
  /** The composed weights, from clients that tell them. */
  readonly combined?: CombinedReport;
}
export type Notice = MountedNotice | SettledNotice | ReleasedNotice;

/** Reads an entry of the notices stream; undefined when it is none that this version knows. Never throws. */
export function parseNotice({ id, fields }: Entry): Notice | undefined {
  const text = (name: string): string => fields[name]?.toString() ?? "";
  const about = { id, run: text("run"), incarnation: Number(text("inc")), at: Number(id.split("-", 1)[0]) };
  if (about.run === "" || !Number.isSafeInteger(about.incarnation)) return undefined;
  const header = readHeader(fields.header);
  if (!header) return undefined;
  if (text("kind") === "mounted") return { ...about, kind: "mounted", ...readReport(header) };
  const base = { ...about, step: text("step") };
  if (!/^\d+\.\d+$/.test(base.step)) return undefined;
  if (text("kind") === "released") {
    const wait_ms = typeof header.wait_ms === "number" ? header.wait_ms : Number.NaN;
    const combined = readCombined(header.combined);
    return { ...base, kind: "released", wait_ms, ...(combined && { combined }) };
  }
  if (text("kind") !== "settled" || !isOutcome(header)) return undefined;
  return { ...base, kind: "settled", pipeline: text("pipeline"), header, ms: Number(text("ms") || "NaN") };
}

function readHeader(bytes: Uint8Array | undefined): Record<string, unknown> | undefined {
  if (!bytes) return undefined;
  try {
    const header = unpack(bytes);
    return typeof header === "object" && header !== null ? (header as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function isOutcome(header: Record<string, unknown>): header is Record<string, unknown> & OutcomeHeader {
  return (header.kind === "result" || header.kind === "failure") && typeof header.stage === "string";
}

function readReport({ version, settings }: Record<string, unknown>): MountReport {
  const told = typeof settings === "object" && settings !== null ? Object.entries(settings) : [];
  return { version: String(version), settings: Object.fromEntries(told.map(([name, value]) => [name, String(value)])) };
}

/** Numbers that are missing become NaN, which no metric takes. */
function readCombined(told: unknown): CombinedReport | undefined {
  if (typeof told !== "object" || told === null) return undefined;
  const { level, stats, product, clipped } = told as Partial<CombinedReport>;
  if ((level !== "sample" && level !== "token") || typeof stats !== "object" || stats === null) return undefined;
  const before = typeof product === "object" && product !== null ? { product } : {};
  return { level, stats, ...before, clipped: { low: Number(clipped?.low), high: Number(clipped?.high) } };
}
