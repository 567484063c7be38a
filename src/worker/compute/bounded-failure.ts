import type { Failure } from "../../errors.js";

/** Far above any message that says something; what a component throws may hold its whole batch. */
const MESSAGE = 8_192;
const STACK = 16_384;

/** A failure as it leaves its thread: Redis, logs and the trainer get its beginning. */
export function boundFailure(failure: Failure): Failure {
  return {
    ...failure,
    message: cut(failure.message, MESSAGE),
    details: bounded(failure.details, MESSAGE) as Failure["details"],
  };
}

export const boundStack = (stack: string): string => cut(stack, STACK);

function bounded(value: unknown, most: number): unknown {
  if (typeof value === "string") return cut(value, most);
  if (Array.isArray(value)) return value.slice(0, most / 64).map((item) => bounded(item, most / 8));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).slice(0, most / 64);
  return Object.fromEntries(entries.map(([key, item]) => [cut(key, most / 8), bounded(item, most / 8)]));
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)} … (${text.length} characters)`;
}
