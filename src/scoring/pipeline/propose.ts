import { DataflexError } from "../../errors.js";
import type { PipelineSpec } from "../../protocol/messages.js";
import type { Mixer } from "../components/component-types.js";
import type { DomainSeries } from "../mix/series.js";
import { normalized, simplexProblem, withFloor } from "../mix/simplex.js";
import { explain } from "./call-component.js";
import { componentContext, type Notes } from "./notes.js";
import type { RunContext } from "./outcome.js";

/**
 * The shares of `series.domains`, sum 1. Domains never seen keep their prior share, the mixer divides the rest among the others, then
 * the floor.
 * @param run its step is the step of the update.
 * @throws DataflexError COMPONENT when the mixer throws or its answer is no set of shares; CONFIG.
 */
export function proposeShares(
  spec: PipelineSpec,
  mixer: Mixer,
  series: DomainSeries,
  run: RunContext,
  notes: Notes,
): number[] {
  const ctx = componentContext(mixer, spec.actuator, spec.name, run, notes);
  const counts = series.counts();
  const all = series.domains.map((_, d) => d);
  const seen = mixer.scorer === "none" ? all : all.filter((d) => counts[d]! > 0);
  const shares = [...series.prior];
  if (seen.length > 0) {
    const rest = seen.reduce((sum, d) => sum + shares[d]!, 0);
    const proposed = ask(mixer, seen.length === all.length ? series : series.of(seen), ctx);
    for (const [i, d] of seen.entries()) shares[d] = rest * proposed[i]!;
  }
  const { floor, floor_mode } = ctx.params as { floor?: unknown; floor_mode?: unknown };
  const kept = typeof floor === "number" ? withFloor(shares, floor, floor_mode === "clip" ? "clip" : "mix") : shares;
  return normalized(kept);
}

function ask(mixer: Mixer, series: DomainSeries, ctx: ReturnType<typeof componentContext>): number[] {
  let answer: unknown;
  try {
    answer = mixer.propose(series, ctx);
  } catch (thrown) {
    throw explain(mixer, thrown);
  }
  const isList = Array.isArray(answer) || ArrayBuffer.isView(answer);
  const shares = isList ? Array.from(answer as ArrayLike<number>) : [];
  const problem = isList ? simplexProblem(shares, series.domains.length) : `it returned ${typeof answer}`;
  if (problem === undefined) return normalized(shares);
  throw new DataflexError(
    "COMPONENT",
    `mixer '${mixer.name}' must give one share >= 0 a domain, together 1: ${problem} (domains: ${series.domains.join(", ")})`,
    { component: mixer.name, domains: series.domains },
  );
}
