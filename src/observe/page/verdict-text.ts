import { fixParts, h } from "./dom.js";
import type { RunView } from "./page-types.js";

/** What is wrong with a run, in words with what to do; built anew only where something has changed. */
export function verdictItems(list: HTMLElement, { verdict }: RunView): void {
  const shape = JSON.stringify(verdict.reasons);
  if (list.dataset.shape === shape) return;
  list.dataset.shape = shape;
  const items = verdict.reasons.map(({ level, text, fix, since_step }) =>
    h(
      "li",
      { class: level },
      h("span", { class: "sign", "aria-hidden": "true" }, level === "bad" ? "✕" : "▲"),
      h("span", {}, `${text}${since_step === null ? "" : `, since step ${since_step}`}`),
      h("span", { class: "fix muted" }, ...fixParts(fix)),
    ),
  );
  list.replaceChildren(...items);
}

const SIGNS = { ok: "", warn: "▲", bad: "✕" } as const;

/** Sign and colour of a run where its verdict is not good; a run that has ended is grey. */
export function verdictSign({ state, verdict }: RunView): { sign: string; level: string } | undefined {
  return state === "ended" || verdict.level === "ok" ? undefined : { sign: SIGNS[verdict.level], level: verdict.level };
}

/** The most severe verdict among runs that have not ended, in front of the tab's title. */
export function titleOf(runs: readonly RunView[]): string {
  const levels = runs.map((run) => verdictSign(run)?.level);
  const sign = levels.includes("bad") ? SIGNS.bad : levels.includes("warn") ? SIGNS.warn : "";
  const sick = levels.filter((level) => level !== undefined).length;
  return sign === "" ? "dataflex-mq" : `${sign} ${sick} sick · dataflex-mq`;
}
