import type { ResolvedMount } from "../../mounting/catalogue/resolution.js";
import { show } from "../../mounting/config/describe.js";
import type { ComponentRef, FieldNeed, PipelineSpec } from "../../protocol/pipeline-spec.js";

/** A resolved mount for people: one block a pipeline, then composition, warnings and notes. */
export function mountText(file: string, mount: ResolvedMount): string {
  const count = mount.pipelines.length === 1 ? "1 pipeline" : `${mount.pipelines.length} pipelines`;
  const estimator = mount.adv_estimator === undefined ? "" : `, advantage estimator ${mount.adv_estimator}`;
  const { combine, rescale, clip } = mount.composition;
  return [
    `${file} is fine: ${count}${estimator}`,
    ...mount.pipelines.flatMap(pipelineLines),
    "",
    `composition  combine ${combine}, clip ${clip === undefined ? "none" : show(clip)}, rescale ${rescale}`,
    `waiting      up to ${mount.max_wait_ms} ms, then ${mount.on_unavailable === "error" ? "an error" : "neutral weights"}`,
    ...mount.warnings.map((warning) => `warning: ${warning}`),
    ...mount.notes.map((note) => `note: ${note}`),
    "",
  ].join("\n");
}

function pipelineLines(pipeline: PipelineSpec): string[] {
  const { mechanism, granularity, normalize, policy } = pipeline;
  const result = {
    reweight: `weights per ${granularity}, ${normalize === "none" ? "not normalised" : `mean one over ${normalize}s`}`,
    select:
      policy === undefined
        ? selects(pipeline)
        : policy.role === "feed"
          ? "feeds the policy with responses"
          : "prompts kept or left out, with sampling weights",
    mix: `proportions of ${pipeline.domains?.join(", ") ?? "domains"}`,
  }[mechanism];
  return [
    "",
    `pipeline ${pipeline.name}${pipeline.shadow ? " (shadow: never delivered)" : ""}`,
    `  mechanism  ${mechanism}: ${result}`,
    `  stage      ${pipeline.stage}`,
    ...(pipeline.scorer === undefined ? [] : [`  scorer     ${componentText(pipeline.scorer)}`]),
    `  actuator   ${componentText(pipeline.actuator)}`,
    `  fields     ${fieldsText(pipeline.fields)}`,
  ];
}

function selects({ granularity, on_empty, keep_when_short }: PipelineSpec): string {
  const floor = keep_when_short === undefined ? "" : `; at least ${keep_when_short} stay`;
  return `${granularity === "token" ? "tokens" : "rows"} kept or dropped; nothing kept: ${on_empty}${floor}`;
}

export function fieldsText(fields: readonly FieldNeed[]): string {
  if (fields.length === 0) return "none";
  return fields.map(({ name, scope }) => (scope === undefined ? name : `${name} (${scope})`)).join(", ");
}

function componentText(component: ComponentRef): string {
  const params = Object.entries(component.params).map(([name, value]) => `${name} = ${show(value)}`);
  return [component.name, ...(params.length === 0 ? [] : [params.join(", ")])].join("   ");
}
