import { describe, expect, it } from "vitest";
import { ESTIMATORS } from "../../../../src/mounting/catalogue/estimators.js";
import type { MountInput } from "../../../../src/mounting/catalogue/resolution.js";
import { resolveMount } from "../../../../src/mounting/catalogue/resolve.js";
import { builtin, mounted, problems, REWEIGHT, SELECT } from "../../../helpers/mount.js";

describe("groups", () => {
  const without = ESTIMATORS.filter((e) => !e.groups).map((e) => e.name);
  it.each(without)("group_solve_rate is refused under %s, and the message says why", (adv_estimator) => {
    const [problem, ...others] = problems(SELECT, { adv_estimator });
    expect(others).toEqual([]);
    expect(problem?.path).toBe("dataflex.scorer.name");
    expect(problem?.text).toContain(`the advantage estimator "${adv_estimator}" has no groups`);
    expect(problem?.text).toContain("grpo, ");
  });
  it.each(ESTIMATORS.filter((e) => e.groups).map((e) => e.name))("it mounts under %s", (adv_estimator) => {
    expect(mounted(SELECT, { adv_estimator, mode: "live" }).adv_estimator).toBe(adv_estimator);
  });
  it("reads the name as verl's enum prints it", () => {
    expect(problems(SELECT, { adv_estimator: "AdvantageEstimator.GAE" })[0]?.text).toContain('"gae"');
    expect(mounted(SELECT, { adv_estimator: "AdvantageEstimator.GRPO" }).adv_estimator).toBe("grpo");
  });
  it("an unknown estimator is the user's own: a warning, with a near name", () => {
    expect(mounted(SELECT, { adv_estimator: "grpoo" }).warnings[0]).toMatch(
      /"grpoo" is not one of verl's.*did you mean "grpo"/,
    );
    expect(mounted(SELECT, { adv_estimator: "remixed" }).warnings[0]).toMatch(/declared by the user/);
  });
  it("warns of an estimator that verl's trainers cannot run", () => {
    expect(mounted(REWEIGHT, { adv_estimator: "remax" }).warnings[0]).toMatch(/reward_baselines/);
  });
  it("an unset estimator is noted by check, refused by a live mount, left to replay's caller", () => {
    const unset = (mode: MountInput["mode"]) => resolveMount({ dataflex: SELECT, mode }, [builtin]);
    expect(unset("check")).toMatchObject({ ok: true, notes: [expect.stringMatching(/no advantage estimator given/)] });
    expect(unset("live")).toMatchObject({
      ok: false,
      problems: [{ message: expect.stringMatching(/did not say which/) }],
    });
    expect(unset("replay")).toMatchObject({ ok: true, notes: [] });
    expect(resolveMount({ dataflex: REWEIGHT, mode: "live" }, [builtin])).toMatchObject({ ok: true });
  });
  it("a group of one is refused", () => {
    expect(problems(SELECT, { group_size: 1 })[0]?.text).toMatch(/every group has 1 row/);
    expect(mounted(REWEIGHT, { group_size: 1 }).ok).toBe(true);
    expect(problems(REWEIGHT, { group_size: 2.5 })[0]?.path).toBe("group_size");
  });
  it.each([
    ["adv_estimator", 3],
    ["adv_estimator", ["grpo"]],
    ["adv_estimator", null],
    ["provides", "uid"],
    ["provides", [1]],
    ["provides", { uid: true }],
    ["group_size", "8"],
  ])("what a request must not say is a problem of its own: %s %j", (key, value) => {
    const unsound = { dataflex: REWEIGHT, mode: "live", adv_estimator: "grpo", [key]: value } as MountInput;
    const answer = resolveMount(unsound, [builtin]);
    expect(answer).toMatchObject({ ok: false, problems: [{ path: [key], message: expect.stringContaining(key) }] });
  });
});
