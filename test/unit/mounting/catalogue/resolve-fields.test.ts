import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineScorer } from "../../../../src/scoring/components/define.js";
import { fakeCatalogue } from "../../../helpers/catalogue.js";
import { mounted, problems, REWEIGHT, SELECT } from "../../../helpers/mount.js";

describe("fields", () => {
  it("a field that the trainer does not have is refused, naming who needs it and a near name", () => {
    const found = problems(SELECT, { provides: ["rm_score", "response_mask"] });
    expect(found.map((p) => p.text)).toEqual([
      expect.stringMatching(
        /scorer "group_solve_rate" needs the field "rm_scores".*provides: rm_score, response_mask.*did you mean "rm_score"/,
      ),
      expect.stringMatching(/scorer "group_solve_rate" needs the field "uid".*the column "uid"/),
    ]);
  });
  it("an unknown trainer is taken to be verl: doubts are warnings", () => {
    const odd = defineScorer({
      name: "odd",
      requires: ["advantages", "moon_phase"],
      timing: "post_reward",
      granularity: "response",
      params: z.strictObject({}),
      score: () => [],
    });
    const { warnings } = mounted({ ...REWEIGHT, scorer: { name: "odd" } }, {}, [fakeCatalogue([odd])]);
    expect(warnings).toEqual([
      'scorer "odd": verl has "advantages" only from post_advantage on, it is read at post_reward',
      'scorer "odd": verl has no field "moon_phase": the trainer must provide it itself',
    ]);
  });
});

describe("the mask", () => {
  const scorerAt = (timing: "pre_rollout" | "post_reward") =>
    defineScorer({
      name: "by_uid",
      requires: ["uid"],
      timing,
      granularity: "response",
      params: z.strictObject({}),
      score: (batch) => batch.strings("uid").map((uid) => uid.length),
    });
  const fieldsOf = (mount: object, timing: "pre_rollout" | "post_reward") =>
    mounted({ ...mount, scorer: { name: "by_uid" } }, {}, [fakeCatalogue([scorerAt(timing)])]).pipelines[0]!.fields;
  const both = [{ name: "response_mask", scope: "response" }, { name: "uid" }];

  it("is asked for by every pipeline that weighs the loss, whatever its components read", () => {
    expect(fieldsOf(REWEIGHT, "post_reward")).toEqual(both);
    expect(fieldsOf({ mechanism: "select", actuator: { name: "threshold_band" } }, "post_reward")).toEqual(both);
  });
  it("is not asked for before there are responses", () => {
    expect(fieldsOf(REWEIGHT, "pre_rollout")).toEqual([{ name: "uid" }]);
  });
});
