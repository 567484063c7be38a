import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { softmaxWeights, worst } from "../helpers/batches.js";
import { dataflexMq } from "../helpers/cli.js";

const NUMPY = join(import.meta.dirname, "plugins/numpy_forms.py");
const ORIGINAL = join(import.meta.dirname, "plugins/original_forms.py");

function file(name: string, content: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), "dfx-command-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, name), JSON.stringify(content));
  return join(folder, name);
}

const config = (scorer: object, actuator: object = { name: "softmax" }) =>
  file("config.json", { dataflex: { mechanism: "reweight", scorer, actuator } });

test("components prints what a Python file declares", async () => {
  const { code, out } = await dataflexMq(["components", "np_magnitude", "--plugin", NUMPY]);
  expect(code).toBe(0);
  expect(out).toContain("Mean or sum of |advantage| over a row's tokens.");
  expect(out).toContain('agg (mean | sum, default "mean")');
  expect(out).toContain("advantages");
  const all = JSON.parse((await dataflexMq(["components", "--json", "--plugin", NUMPY, ORIGINAL])).out);
  expect(all.fingerprint).toMatch(/^plugin-/);
  const names = all.components.map(({ name }: { name: string }) => name);
  expect(names).toEqual(expect.arrayContaining(["np_softmax", "loudness", "original_forms:softmax", "softmax"]));
});

test("check judges parameters by the constructor's signature", async () => {
  const good = await dataflexMq(["check", config({ name: "loudness", params: { power: 2 } }), "--plugin", ORIGINAL]);
  expect(good.code).toBe(0);
  const { code, err } = await dataflexMq([
    "check",
    config({ name: "loudness", params: { powr: 2 } }),
    "--plugin",
    ORIGINAL,
  ]);
  expect(code).toBe(2);
  expect(err).toContain('did you mean "power"');
});

test("replay scores a recorded step with a Python plugin", async () => {
  const values = [0.5, -2, 1];
  const step = file("step.json", {
    fields: { advantages: values.map((value) => [value, value]), response_mask: values.map(() => [1, 1]) },
  });
  const { code, out, err } = await dataflexMq([
    "replay",
    step,
    "--config",
    config({ name: "np_magnitude" }),
    "--plugin",
    NUMPY,
    "--json",
  ]);
  expect({ code, err: code === 0 ? "" : err }).toEqual({ code: 0, err: "" });
  expect(worst(JSON.parse(out).pipelines[0].weights, softmaxWeights(values))).toBeLessThan(1e-5);
});
