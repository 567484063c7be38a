import { z } from "zod";
import { FLOOR_MODES } from "../../mix/simplex.js";
import type { Rule } from "../component-types.js";

/** Parameters of mixers whose shares the framework keeps away from 0. */
export const floorParams = (floor: number) => ({
  floor: z.number().min(0).max(1).default(floor),
  floor_mode: z.enum(FLOOR_MODES).default("mix"),
});

export const FLOOR_DOC = {
  floor: "least share of any domain, in [0, 1 / number of domains]",
  floor_mode: "mix: floor + (1 - K floor) p, guarantees the floor; clip: max(p, floor) over its sum, may fall below it",
} as const;

export const FLOOR_RULES: readonly Rule[] = [{ rule: "floor_fits", params: ["floor"] }];

export const UNSEEN_EDGE =
  "a domain never seen keeps its prior share and the others divide the rest; then the floor applies";

export const FLOOR_DIFFERS =
  "floor_mode mix is the default: the original clips and renormalises, which undercuts the floor";
