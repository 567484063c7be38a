import type { Component, RowComponent } from "../scoring/components/component-types.js";
import { namedNeeds } from "../scoring/components/needs.js";
import { checkMixer } from "./check-mixer.js";
import { checkPolicy } from "./check-policy.js";
import { type Observed, type Observer, observe } from "./observe.js";
import { PROPERTIES, type Property, type PropertyName } from "./properties.js";
import type { Params } from "./run-component.js";
import { type SampleOptions, samplesFor } from "./samples.js";

export interface CheckOptions extends SampleOptions {
  readonly params?: Params;
  /**
   * Properties that this component is known not to have. A component that draws random numbers by row answers
   * permuted rows differently; so does one that settles ties by row number, where its values tie.
   */
  readonly skip?: readonly PropertyName[];
}

/**
 * Checks that a component has what the system relies on: results of the right shape, finite, and the same when computed twice, for permuted
 * rows, for every encoding, for any values under mask 0, for any padding, and for every cut that `rows` allows; no tensor leaks.
 * Mixers: proportions on the simplex, the floor kept, domains in another order, domains never seen. Policies: choices among the
 * candidates, for any history. The catalogue's own components pass the same suite.
 * @throws Error listing everything that failed, with the sample it failed on.
 */
export async function checkComponent(component: Component, options: CheckOptions = {}): Promise<void> {
  const failures: string[] = [];
  if (component.kind === "mixer") failures.push(...(await checkMixer(component, options.params ?? {})));
  else if (component.kind === "policy") failures.push(...(await checkPolicy(component, options.params ?? {})));
  else await checkRows(component, options, failures);
  if (failures.length > 0) {
    throw new Error(`${component.kind} '${component.name}' fails:\n${failures.map((line) => `  ${line}`).join("\n")}`);
  }
}

async function checkRows(declared: RowComponent, options: CheckOptions, failures: string[]): Promise<void> {
  const named = "requires_named" in declared ? namedNeeds(declared.requires_named, options.params ?? {}) : [];
  const component = { ...declared, needs: [...declared.needs, ...named] };
  const note = (label: string, what: string) => failures.push(`${label}: ${what}`);
  for (const sample of samplesFor(component, options)) {
    let leaked = 0;
    const observer: Observer = {
      component,
      params: options.params ?? {},
      onLeak: (count) => {
        leaked += count;
      },
    };
    const base = await resultOf(() => observe(observer, sample));
    if (!base.ok) {
      note(sample.label, `threw ${base.reason}`);
      continue;
    }
    for (const [name, property] of Object.entries(PROPERTIES) as [PropertyName, Property][]) {
      if (options.skip?.includes(name)) continue;
      const result = await resultOf(() => property(observer, sample, base.value as Observed));
      const wrong = result.ok ? result.value : `threw ${result.reason}`;
      if (wrong !== undefined) note(`${name}, ${sample.label}`, wrong);
    }
    if (leaked > 0) note(`tensors, ${sample.label}`, `COMPONENT: ${leaked} tensors were left behind over all runs`);
  }
}

async function resultOf<T>(
  body: () => Promise<T>,
): Promise<{ readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string }> {
  try {
    return { ok: true, value: await body() };
  } catch (thrown) {
    return { ok: false, reason: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}
