import { show } from "./describe.js";
import { listOptions, type OptionInfo } from "./options.js";

/** Components of the example pipeline; everything else in the file is the default. */
const EXAMPLE: Readonly<Record<string, string>> = {
  mechanism: "reweight",
  scorer: "{name: advantage_magnitude}",
  actuator: "{name: softmax, params: {temperature: 1.0}}",
};

/** The text of `config/default.yaml`: every option with its default, values, unit and meaning. */
export function defaultYaml(): string {
  const options = listOptions();
  const lines = (level: OptionInfo["level"], indent: string) =>
    options.filter((option) => option.level === level).flatMap((option) => optionLines(option, indent));
  return [
    "# Every option of the dataflex block with its default. Written by scripts/gen-config.ts; a test compares them.",
    "# Leave out what you do not change. null means unset. A single pipeline may stand directly under dataflex, without pipelines.",
    "dataflex:",
    ...lines("run", "  "),
    "  pipelines:",
    "    main:",
    ...lines("pipeline", "      "),
    "",
  ].join("\n");
}

function optionLines(option: OptionInfo, indent: string): string[] {
  const example = EXAMPLE[option.name];
  const value = example ?? (typeof option.fallback === "string" ? option.fallback : show(option.fallback));
  const unit = option.unit === undefined ? "" : `, in ${option.unit}`;
  const required =
    example === undefined || option.level !== "pipeline" ? "" : option.name === "scorer" ? "" : ", required";
  return [`${indent}# ${option.meaning} (${option.values}${unit}${required})`, `${indent}${option.name}: ${value}`];
}
