import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { defaultYaml } from "../../../../src/mounting/config/default-file.js";
import { listOptions, PIPELINE_SCHEMA, RUN_SCHEMA } from "../../../../src/mounting/config/options.js";
import { defaultsOf } from "../../../../src/mounting/config/schema-check.js";

const text = await readFile(new URL("../../../../config/default.yaml", import.meta.url), "utf8");

it("config/default.yaml is what the option table says", () => {
  expect(text).toBe(defaultYaml());
});

it("its values are the schema's defaults", () => {
  const { pipelines, ...run } = parse(text).dataflex;
  const { mechanism, scorer, actuator, ...pipeline } = pipelines.main;
  expect(run).toEqual(defaultsOf(RUN_SCHEMA));
  expect({ scorer: null, ...pipeline }).toEqual(defaultsOf(PIPELINE_SCHEMA));
  expect([mechanism, scorer.name, actuator.name]).toEqual(["reweight", "advantage_magnitude", "softmax"]);
});

it("every option has a meaning, and names are used once", () => {
  const options = listOptions();
  expect(options.every((option) => option.meaning.length > 0)).toBe(true);
  expect(new Set(options.map((option) => option.name)).size).toBe(options.length);
});
