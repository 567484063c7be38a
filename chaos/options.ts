import { parseArgs } from "node:util";
import { EVENTS, PUTS } from "./plan/event-names.js";
import { type Chosen, parseEvents } from "./plan/schedule.js";

export const USAGE = `npm run chaos -- --steps N --seed S [--events all|none|list|a,b,…]   (a beginning stands for all: redis-)

Trains N steps of three runs against real processes while S decides what is done to them, compares every result with one computed here, and
ends with 1 unless all are right. The same seed gives the same steps and the same events.`;

export type Options =
  | { readonly kind: "help" }
  | { readonly kind: "list" }
  | { readonly kind: "run"; readonly steps: number; readonly seed: number; readonly chosen: Chosen };

/** @throws Error that says what is wrong with an argument. */
export function parseOptions(argv: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      steps: { type: "string", default: "100" },
      seed: { type: "string", default: "1" },
      events: { type: "string", default: "all" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return { kind: "help" };
  if (values.events === "list") return { kind: "list" };
  return {
    kind: "run",
    steps: whole("--steps", values.steps, 1),
    seed: whole("--seed", values.seed, 0),
    chosen: parseEvents(values.events),
  };
}

export const eventList = (): string =>
  [...Object.entries(EVENTS).map(([name, { says }]) => [name, says]), ...Object.entries(PUTS)]
    .map(([name, says]) => `${name?.padEnd(16)} ${says}`)
    .join("\n");

function whole(name: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < least)
    throw new Error(`${name} is "${text}", not a whole number from ${least}`);
  return value;
}
