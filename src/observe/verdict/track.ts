import { defined } from "../../defined.js";
import type { Condition, Rule } from "./verdict-rules.js";
import type { Reason, SickLevel, VerdictLevel } from "./verdict-types.js";

/** A level is left after so many steps in which none of its conditions held; from `bad` it falls to `warn` first. */
const HEALTHY = 5;

/** What a rule says of the steps of one subject, ascending. Undefined where it finds nothing wrong any more. */
export function track<T extends { readonly step: number; readonly pipeline?: string | undefined }>(
  rule: Rule<T>,
  steps: readonly T[],
): Reason | undefined {
  const conditions = rule.conditions.map((condition) => new Watched(condition));
  let level: VerdictLevel = "ok";
  let since = 0;
  let healthy = 0;
  let last: T | undefined;
  for (const seen of steps) {
    for (const condition of conditions) condition.see(seen);
    const held = conditions.filter((c) => c.holding);
    if (held.length > 0) last = seen;
    const reached = worst(conditions.filter((c) => c.reached).map((c) => c.level));
    if (reached === "bad" || (reached === "warn" && level === "ok")) {
      if (level !== reached) since = Math.min(...conditions.filter((c) => c.reached).map((c) => c.since));
      level = reached;
    }
    healthy = held.some((c) => level !== "bad" || c.level === "bad") ? 0 : healthy + 1;
    if (healthy < HEALTHY || level === "ok") continue;
    level = level === "bad" ? "warn" : "ok";
    healthy = 0;
  }
  if (level === "ok" || !last) return undefined;
  const { pipeline } = last;
  return { code: rule.code, level, text: rule.text(last), fix: rule.fix, ...defined({ pipeline }), since_step: since };
}

export function worst(levels: readonly VerdictLevel[]): VerdictLevel {
  return levels.includes("bad") ? "bad" : levels.includes("warn") ? "warn" : "ok";
}

/** A condition along the steps. */
class Watched<T extends { readonly step: number }> {
  readonly level: SickLevel;
  /** It held at the newest step. */
  holding = false;
  /** Step at which it began to hold. */
  since = 0;
  readonly #condition: Condition<T>;
  #running = 0;
  #recent: { readonly step: number; readonly held: boolean }[] = [];

  constructor(condition: Condition<T>) {
    this.level = condition.level;
    this.#condition = condition;
  }

  see(seen: T): void {
    this.holding = this.#condition.holds(seen);
    this.#running = this.holding ? this.#running + 1 : 0;
    if ("running" in this.#condition) {
      if (this.#running === 1) this.since = seen.step;
      return;
    }
    this.#recent.push({ step: seen.step, held: this.holding });
    if (this.#recent.length > this.#condition.of) this.#recent.shift();
    this.since = this.#recent.find(({ held }) => held)?.step ?? seen.step;
  }

  get reached(): boolean {
    if ("running" in this.#condition) return this.#running >= this.#condition.running;
    const held = this.#recent.filter((seen) => seen.held).length;
    return this.holding && held > this.#condition.share * this.#condition.of;
  }
}
