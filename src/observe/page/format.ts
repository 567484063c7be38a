/** Numbers as people read them. "–" stands for what is not known. */
export const NONE = "–";

/** What is smaller says nothing, and takes much room to say it. */
const TINY = 1e-9;

export function number(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  if (value === 0) return "0";
  if (Math.abs(value) < TINY) return "≈ 0";
  const size = Math.abs(value);
  if (size >= 100_000 || size < 0.0005) return value.toExponential(1);
  return String(Number(value.toPrecision(Math.max(digits, Math.ceil(Math.log10(size))))));
}

export function percent(value: number | null | undefined): string {
  return value === null || value === undefined || !Number.isFinite(value) ? NONE : `${number(100 * value)} %`;
}

export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return NONE;
  if (ms < 1_000) return `${number(ms)} ms`;
  if (ms < 120_000) return `${number(ms / 1_000)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${number(ms / 3_600_000)} h`;
}

export function bytes(value: number): string {
  if (!Number.isFinite(value)) return NONE;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, value)) / 10));
  return `${number(value / 1024 ** power)} ${units[power]}`;
}

/** A duration that need not be precise to a tenth of a second. */
export const span = (ms: number): string => duration(ms < 120_000 ? Math.round(ms / 1_000) * 1_000 : ms);

/** How long ago, of two times on one clock. */
export const ago = (then: number, now: number): string => (now - then < 1_500 ? "now" : `${span(now - then)} ago`);

export const count = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;
