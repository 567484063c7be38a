import { seededRng } from "../scoring/batch/rng.js";
import type { Mixer } from "../scoring/components/component-types.js";
import type { DomainSeries } from "../scoring/mix/series.js";
import { simplexProblem } from "../scoring/mix/simplex.js";
import { mixHistory } from "./mix-history.js";
import type { Params } from "./run-component.js";
import { runMixer } from "./run-mixer.js";

interface History {
  readonly label: string;
  readonly means: readonly (readonly (number | null)[])[];
}

const rng = seededRng("mix histories");
const random = (steps: number, absent = 0): (number | null)[][] =>
  Array.from({ length: steps }, () => Array.from({ length: 3 }, () => (rng() < absent ? null : rng())));

/** Histories of three domains that a mixer must cope with. */
const HISTORIES: readonly History[] = [
  { label: "one step", means: random(1) },
  { label: "many steps", means: random(60) },
  { label: "steps without some domains", means: random(20, 0.5) },
  { label: "all values equal", means: Array.from({ length: 8 }, () => [0.5, 0.5, 0.5]) },
  { label: "all zero", means: Array.from({ length: 8 }, () => [0, 0, 0]) },
  { label: "large values", means: Array.from({ length: 8 }, (_, i) => [1e6 + i, -1e6, 1e3 * i]) },
];
const NEVER_SEEN: History = { label: "a domain never seen", means: random(12).map(([a, b]) => [a!, b!, null]) };
const PRIOR = [0.5, 0.3, 0.2];
/** Parameters that list something by domain depend on the order of domains anyway. */
const byDomain = (params: Params): boolean => Object.values(params).some(Array.isArray);

/** What a mixer violates, in words. */
export async function checkMixer(mixer: Mixer, params: Params): Promise<string[]> {
  const failures: string[] = [];
  const check = (label: string, test: () => string | undefined): void => {
    try {
      const wrong = test();
      if (wrong !== undefined) failures.push(`${label}: ${wrong}`);
    } catch (thrown) {
      failures.push(`${label}: threw ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    }
  };
  const shares = (series: DomainSeries) => runMixer(mixer, series, params);
  for (const { label, means } of [...HISTORIES, NEVER_SEEN]) {
    check(`simplex, ${label}`, () => simplexProblem(shares(mixHistory(means, { prior: PRIOR })), 3));
    check(`determinism, ${label}`, () =>
      same(shares(mixHistory(means, { prior: PRIOR })), shares(mixHistory(means, { prior: PRIOR }))),
    );
    check(`floor, ${label}`, () => {
      const floor = floorOf(mixer, params);
      const least = Math.min(...shares(mixHistory(means)));
      return least >= floor - 1e-12 ? undefined : `a share of ${least} lies below the floor of ${floor}`;
    });
    if (byDomain(params)) continue;
    check(`order of domains, ${label}`, () => {
      const order = [2, 0, 1];
      const pick = <T>(values: readonly T[]) => order.map((d) => values[d]!);
      const moved = mixHistory(means.map(pick), { prior: pick(PRIOR), domains: pick(["d0", "d1", "d2"]) });
      // Ties are settled by the order of domains, which this changes.
      if (label.startsWith("all")) return undefined;
      return same(shares(moved), pick(shares(mixHistory(means, { prior: PRIOR }))));
    });
  }
  check("empty history", () => {
    const p = shares(mixHistory([], { domains: ["d0", "d1", "d2"] }));
    return simplexProblem(p, 3) ?? (mixer.scorer === "required" ? same(p, [1 / 3, 1 / 3, 1 / 3]) : undefined);
  });
  check("one domain", () => {
    if (byDomain(params)) return undefined;
    return same(shares(mixHistory([[0.4], [0.6]])), [1]);
  });
  if (mixer.scorer === "required") {
    check("a domain never seen keeps its prior share", () => {
      const p = shares(mixHistory(NEVER_SEEN.means, { prior: PRIOR }));
      const [floor, clip] = [floorOf(mixer, params), params.floor_mode === "clip"];
      return clip ? undefined : same([p[2]!], [floor + (1 - 3 * floor) * PRIOR[2]!]);
    });
  }
  return failures;
}

/** The floor that is guaranteed; with `clip` there is none. */
function floorOf(mixer: Mixer, params: Params): number {
  const { floor, floor_mode } = mixer.params.parse(params) as { floor?: number; floor_mode?: string };
  return floor_mode === "clip" ? 0 : (floor ?? 0);
}

function same(have: readonly number[], want: readonly number[]): string | undefined {
  const close = have.length === want.length && have.every((share, i) => Math.abs(share - want[i]!) <= 1e-9);
  return close ? undefined : `${have.join(", ")} instead of ${want.join(", ")}`;
}
