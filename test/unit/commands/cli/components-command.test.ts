import { describe, expect, it } from "vitest";
import { BUILT_INS } from "../../../../src/scoring/components/catalogue.js";
import { USES } from "../../../../src/scoring/components/uses.js";
import { dataflexMq } from "../../../helpers/cli.js";

describe("components", () => {
  it("lists every built-in with a summary, under its kind", async () => {
    const { code, out, err } = await dataflexMq(["components"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    for (const component of BUILT_INS) expect(out).toMatch(new RegExp(`^  ${component.name} .*\\.$`, "m"));
    expect(out).toMatch(/^scorers\n[\s\S]*^reweighters\n[\s\S]*^selectors\n/m);
  });

  it("describes one: formula, fields with scope, stage, parameters with range and default, edges, source", async () => {
    const { code, out } = await dataflexMq(["components", "group_solve_rate"]);
    expect(code).toBe(0);
    for (const part of [
      /formula {5}\S/,
      /stage {7}post_reward/,
      /rm_scores \(response\)/,
      /groups {6}needed/,
      /edges {7}\S/,
      /source {6}\S/,
    ]) {
      expect(out).toMatch(part);
    }
    expect(out).toMatch(/success_threshold \(number, default 0\.5\)/);
    expect((await dataflexMq(["components", "softmax"])).out).toContain("temperature (number > 0, default 1)");
    expect((await dataflexMq(["components", "threshold_band"])).out).toContain("low <= high");
  });

  it("an unknown name exits 2 with near and registered names", async () => {
    const { code, out, err } = await dataflexMq(["components", "sofmax"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(
      /^error\[USAGE\] no component is called "sofmax"; did you mean "softmax"\?\n {2}registered: adarft, /,
    );
  });

  it("finds components by use, with their recipes and other trainers' names", async () => {
    const { code, out, err } = await dataflexMq(["components", "--by", "use"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(
      /^my rollouts are stale\n[\s\S]*staleness, staleness_cutoff\n {4}recipe: config\/recipes\/async-staleness.yaml/m,
    );
    expect(out).toContain("slime: --use-opsm, --opsm-delta");
    expect(JSON.parse((await dataflexMq(["components", "--by", "use", "--json"])).out)).toEqual({ uses: USES });
  });

  it.each([
    [["--by", "name"], /expected: use/],
    [["softmax", "--by", "use"], /leave the name out/],
  ])("refuses %j", async (args, message) => {
    const { code, out, err } = await dataflexMq(["components", ...args]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(message);
  });

  it("prints the catalogue as data", async () => {
    const all = JSON.parse((await dataflexMq(["components", "--json"])).out);
    expect(all.fingerprint).toMatch(/^builtin-[0-9a-f]{12}$/);
    expect(all.components).toHaveLength(BUILT_INS.length);
    const one = JSON.parse((await dataflexMq(["components", "softmax", "--json"])).out);
    expect(one.components).toMatchObject([{ kind: "reweighter", name: "softmax", defaults: { temperature: 1 } }]);
  });
});
