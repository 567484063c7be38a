import { DataflexError } from "../../errors.js";
import { liveRows } from "../batch/frame.js";
import { RowVector } from "../batch/row-vector.js";
import type { Policy, PromptChoice } from "../components/component-types.js";
import { PromptHistory } from "../mix/prompt-history.js";
import { explain } from "./call-component.js";
import { checkGroups } from "./complete-groups.js";
import { keepWhenShort } from "./keep-when-short.js";
import { underNonFinitePolicy } from "./nonfinite.js";
import { componentContext, Notes } from "./notes.js";
import type { PipelineInput, PipelineOutcome } from "./outcome.js";
import { earlierSteps, remembered } from "./remember.js";

/** The chosen prompts: `kept` ascending candidate rows, `weights` `(candidates,)` with 0 for the others. */
export type PromptOutcome = PipelineOutcome & { readonly kept: Int32Array };

/**
 * Chooses among a step's candidate prompts by what was remembered of earlier steps. Before `warmup_step` all are kept.
 * @throws DataflexError COMPONENT (an answer that does not fit the candidates), EMPTY_SELECTION, NON_FINITE, COMPONENT_UNKNOWN, DECODE.
 */
export async function choosePrompts(input: PipelineInput): Promise<PromptOutcome> {
  const { spec, registry, batch, run } = input;
  const policy = registry.get("policy", spec.actuator.name);
  const notes = new Notes();
  const candidates = liveRows(batch.frame);
  notes.count("candidates", candidates.length);
  if (candidates.length === 0) notes.flag("no_live_rows");
  if (run.step < spec.warmup_step || candidates.length === 0) {
    if (run.step < spec.warmup_step) notes.flag("warmup");
    return outcome(candidates);
  }
  const steps = earlierSteps(input);
  notes.count("steps_remembered", steps.length);
  const history = new PromptHistory(steps);
  const guarded = await underNonFinitePolicy(spec.on_nonfinite, batch, notes, async (current, own) => {
    const ctx = componentContext(policy, spec.actuator, spec.name, run, own);
    return called(policy, () => policy.select(history, current.restrict(policy.needs.map((need) => need.name)), ctx));
  });
  if (!guarded.ok) return outcome(candidates);
  const rows = liveRows(guarded.batch.frame);
  const { kept, weights } = readChoice(policy, guarded.value, rows, batch.rows, spec.keep_when_short);
  if (kept.length > 0) return outcome(kept, weights);
  if (spec.on_empty === "error") {
    const message = `policy '${policy.name}' kept none of ${rows.length} prompts; widen its parameters, or set on_empty`;
    throw new DataflexError("EMPTY_SELECTION", message, { component: policy.name, candidates: rows.length });
  }
  notes.flag("empty_selection");
  notes.warn(`policy '${policy.name}' kept no prompt (on_empty: ${spec.on_empty})`);
  return outcome(spec.on_empty === "keep_all" ? rows : kept);

  function outcome(rows: Int32Array, weights?: Float32Array): PromptOutcome {
    if (candidates.length > 0) notes.count("kept_frac", rows.length / candidates.length);
    return {
      granularity: "row",
      kept: rows,
      ...(weights && { weights: { kind: "row", values: weights } }),
      ...notes.all,
    };
  }
}

/**
 * Summarises a step's responses for the policy of the pipeline that this one feeds.
 * @throws DataflexError NON_FINITE, INCOMPLETE_GROUP, COMPONENT, COMPONENT_UNKNOWN.
 */
export async function feedPolicy({ spec, registry, batch, run }: PipelineInput): Promise<PipelineOutcome> {
  const policy = registry.get("policy", spec.actuator.name);
  const notes = new Notes();
  if (policy.needs_groups) checkGroups(spec, batch, notes);
  const guarded = await underNonFinitePolicy(spec.on_nonfinite, batch, notes, async (current, own) => {
    if (current.liveCount === 0) return [];
    const ctx = componentContext(policy, spec.actuator, spec.name, run, own);
    const readable = [...policy.feed_needs.map((need) => need.name), "session"];
    return called(policy, () => policy.feed(current.restrict(readable), ctx));
  });
  if (!guarded.ok) return { granularity: "row", ...notes.all };
  const remember = remembered(policy, spec, guarded.value);
  notes.count("remembered", guarded.value.length);
  return { granularity: "row", ...(remember && { remember }), ...notes.all };
}

async function called<T>(policy: Policy, call: () => T): Promise<T> {
  try {
    return call();
  } catch (thrown) {
    throw explain(policy, thrown);
  }
}

function readChoice(policy: Policy, choice: PromptChoice, rows: Int32Array, total: number, floor: number | undefined) {
  const refuse = (message: string): never => {
    throw new DataflexError("COMPONENT", `policy '${policy.name}' ${message}`, { component: policy.name, rows: total });
  };
  const list = (part: "keep" | "weights"): ArrayLike<number | boolean> | undefined => {
    const given: unknown = choice[part];
    const values = given instanceof RowVector ? given.values : given;
    if (values === undefined) return undefined;
    const length = (values as { length?: unknown } | null)?.length;
    if (length !== total) return refuse(`gave ${String(length)} entries of ${part} for ${total} candidates`);
    return values as ArrayLike<number | boolean>;
  };
  const keep = list("keep");
  const shares = list("weights");
  const chosen = rows.filter((row) => keep === undefined || Boolean(keep[row]));
  const kept = keepWhenShort(
    floor,
    chosen,
    Array.from(rows, (row) => [row]),
  );
  if (shares === undefined) return { kept };
  const weights = new Float32Array(total);
  for (const row of kept) {
    const weight = Number(shares[row]);
    if (!Number.isFinite(weight) || weight < 0)
      refuse(`gave weight ${weight} for row ${row}: it must be finite and >= 0`);
    weights[row] = weight;
  }
  return { kept, weights };
}
