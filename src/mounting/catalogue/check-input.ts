import { defined } from "../../defined.js";
import type { Problem, TrainerSettings } from "../../protocol/mount-messages.js";
import { show } from "../config/describe.js";
import { checkMapping, type Subject } from "../config/schema-check.js";
import { TRAINER_SCHEMA } from "../config/trainer-options.js";
import type { MountInput } from "./resolution.js";

/** The input without its invalid parts, which must not be checked any further: it comes from another process. */
export function checkInput(input: MountInput, problems: Problem[]): MountInput {
  const { group_size: size, trainer: given, adv_estimator: estimator, provides, ...rest } = input;
  if (estimator !== undefined && typeof estimator !== "string") {
    problems.push({
      path: ["adv_estimator"],
      message: `adv_estimator must be the name of an advantage estimator, such as "grpo", got ${show(estimator)}`,
    });
  }
  if (provides !== undefined && !isStrings(provides)) {
    problems.push({ path: ["provides"], message: `provides must be a list of field names, got ${show(provides)}` });
  }
  if (size !== undefined && (!Number.isInteger(size) || size < 1)) {
    problems.push({ path: ["group_size"], message: `group_size must be an integer >= 1, got ${show(size)}` });
  }
  const subject: Subject = { owner: "the mount's trainer", noun: "option" };
  const checked = given === undefined ? undefined : checkMapping(TRAINER_SCHEMA, given, ["trainer"], subject);
  if (checked?.ok === false) problems.push(...checked.problems);
  return {
    ...rest,
    ...(typeof estimator === "string" ? { adv_estimator: estimator } : {}),
    ...(isStrings(provides) ? { provides } : {}),
    ...defined({ group_size: size }),
    ...(checked?.ok === true ? { trainer: checked.value as TrainerSettings } : {}),
  };
}

function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
