import type { MountRecord, ResultRecord } from "./page-types.js";

/** A change from this step on: of settings, or of the version of a broker or worker. */
export interface Change {
  readonly step: number;
  readonly text: string;
}

/** While a fleet is upgraded, workers of two versions take turns: a version seen recently is no change. */
const RECENT = 50;
const SHOWN = 4;

/** Changes along the steps of one pipeline, ascending. */
export function changesOf(
  results: readonly ResultRecord[],
  mounts: ReadonlyMap<number, MountRecord>,
): readonly Change[] {
  const met = new Map<string, number>();
  return results.flatMap((result, i): Change[] => {
    const before = results[i - 1];
    const texts: string[] = [];
    if (before && before.incarnation !== result.incarnation) {
      texts.push(...mountTexts(mounts.get(before.incarnation), mounts.get(result.incarnation)));
    }
    const last = met.get(result.version);
    met.set(result.version, i);
    const isNew = last === undefined || i - last > RECENT;
    if (before && isNew && result.version !== "" && before.version !== "") {
      texts.push(`worker version ${before.version} → ${result.version}`);
    }
    return texts.length === 0 ? [] : [{ step: result.step, text: texts.join("; ") }];
  });
}

function mountTexts(before: MountRecord | undefined, after: MountRecord | undefined): string[] {
  if (!before || !after) return ["trainer restarted"];
  const [old, now] = [pipelinesOf(before), pipelinesOf(after)];
  const added = now.filter((name) => !old.includes(name));
  const removed = old.filter((name) => !now.includes(name));
  const whole = [...added, ...removed].map((name) => `${name}.`);
  const keys = [...new Set([...Object.keys(before.settings), ...Object.keys(after.settings)])];
  const changed = keys.filter(
    (key) => before.settings[key] !== after.settings[key] && !whole.some((name) => key.startsWith(name)),
  );
  const texts = [
    ...added.map((name) => `pipeline ${name} added`),
    ...removed.map((name) => `pipeline ${name} removed`),
    ...changed.map((key) => {
      const name = key.replace(".params.", ".");
      return `${name} ${before.settings[key] ?? "unset"} → ${after.settings[key] ?? "unset"}`;
    }),
    ...(before.version === after.version ? [] : [`broker version ${before.version} → ${after.version}`]),
  ];
  if (texts.length === 0) return ["trainer restarted"];
  return texts.length <= SHOWN ? texts : [...texts.slice(0, SHOWN), `${texts.length - SHOWN} more`];
}

/** Each pipeline has a mechanism. */
const pipelinesOf = ({ settings }: MountRecord): string[] =>
  Object.keys(settings).flatMap((key) => (key.endsWith(".mechanism") ? [key.slice(0, -".mechanism".length)] : []));
