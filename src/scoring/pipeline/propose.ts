import { DataflexError } from "../../errors.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import type { Mixer } from "../components/component-types.js";
import type { DomainSeries } from "../mix/series.js";
import { normalized, simplexProblem, withFloor } from "../mix/simplex.js";
import { explain } from "./call-component.js";
import { componentContext, type Notes } from "./notes.js";
import type { RunContext } from "./outcome.js";

/**
 * The shares of `series.domains`, sum 1. Domains never seen keep their prior share, the mixer divides the rest among the others, then
 * the floor. Returns a promise if the mixer does.
 * @param run its step is the step of the update.
 * @throws DataflexError COMPONENT when the mixer throws or returns no valid shares; CONFIG.
 */
export function proposeShares(
  spec: PipelineSpec,
  mixer: Mixer,
  series: DomainSeries,
  run: RunContext,
  notes: Notes,
): number[] | Promise<number[]> {
  const ctx = componentContext(mixer, spec.actuator, spec.name, run, notes);
  const counts = series.counts();
  const all = series.domains.map((_, d) => d);
  const seen = mixer.scorer === "none" ? all : all.filter((d) => counts[d]! > 0);
  const { floor, floor_mode } = ctx.params as { floor?: unknown; floor_mode?: unknown };
  const floored = mixer.floors_itself !== true && typeof floor === "number";
  const finish = (proposed: readonly number[]): number[] => {
    const shares = [...series.prior];
    const rest = seen.reduce((sum, d) => sum + shares[d]!, 0);
    for (const [i, d] of seen.entries()) shares[d] = rest * proposed[i]!;
    return normalized(floored ? withFloor(shares, floor, floor_mode === "clip" ? "clip" : "mix") : shares);
  };
  if (seen.length === 0) return finish([]);
  const proposed = ask(mixer, seen.length === all.length ? series : series.of(seen), ctx);
  return proposed instanceof Promise ? proposed.then(finish) : finish(proposed);
}

function ask(
  mixer: Mixer,
  series: DomainSeries,
  ctx: ReturnType<typeof componentContext>,
): number[] | Promise<number[]> {
  try {
    const answer = mixer.propose(series, ctx);
    if (!(answer instanceof Promise)) return readShares(mixer, series, answer);
    return answer.then(
      (shares) => readShares(mixer, series, shares),
      (thrown) => {
        throw explain(mixer, thrown);
      },
    );
  } catch (thrown) {
    throw explain(mixer, thrown);
  }
}

function readShares(mixer: Mixer, series: DomainSeries, answer: unknown): number[] {
  const isList = Array.isArray(answer) || ArrayBuffer.isView(answer);
  const shares = isList ? Array.from(answer as ArrayLike<number>) : [];
  const problem = isList ? simplexProblem(shares, series.domains.length) : `it returned ${typeof answer}`;
  if (problem === undefined) return normalized(shares);
  throw new DataflexError(
    "COMPONENT",
    `mixer '${mixer.name}' must return one share >= 0 per domain, with sum 1: ${problem} (domains: ${series.domains.join(", ")})`,
    { component: mixer.name, domains: series.domains },
  );
}
