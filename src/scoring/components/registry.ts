import { DataflexError } from "../../errors.js";
import { nearest } from "../../suggest.js";
import { type Component, type ComponentKind, type ComponentOf, kindPlural } from "./component-types.js";

/** The components one process can run, by kind and name. Immutable. */
export interface Registry {
  /** @throws DataflexError COMPONENT_UNKNOWN, naming the nearest names and everything of that kind. */
  get<K extends ComponentKind>(kind: K, name: string): ComponentOf<K>;
  find<K extends ComponentKind>(kind: K, name: string): ComponentOf<K> | undefined;
  /** In the order given; of one kind, or all. */
  list(): readonly Component[];
  list<K extends ComponentKind>(kind: K): readonly ComponentOf<K>[];
}

/**
 * @param components values made by `define*`.
 * @throws DataflexError COMPONENT when two different components share kind and name: both places are named.
 */
export function createRegistry(components: readonly Component[]): Registry {
  const byKey = new Map<string, { component: Component; place: number }>();
  components.forEach((component, place) => {
    const key = `${component.kind}:${component.name}`;
    const earlier = byKey.get(key);
    if (earlier?.component === component) return; // the same value listed twice is one component
    if (earlier !== undefined) throw duplicate(earlier.component, earlier.place, component, place);
    byKey.set(key, { component, place });
  });
  const all = [...byKey.values()].map((entry) => entry.component);

  const find = <K extends ComponentKind>(kind: K, name: string) =>
    byKey.get(`${kind}:${name}`)?.component as ComponentOf<K> | undefined;

  return Object.freeze({
    find,
    get<K extends ComponentKind>(kind: K, name: string): ComponentOf<K> {
      const found = find(kind, name);
      if (found !== undefined) return found;
      throw unknown(kind, name, all);
    },
    list<K extends ComponentKind>(kind?: K) {
      return (kind === undefined ? all : all.filter((component) => component.kind === kind)) as ComponentOf<K>[];
    },
  });
}

function describe(component: Component, place: number): string {
  const summary = component.doc?.summary;
  return `entry ${place}${summary === undefined ? "" : ` ("${summary}")`}`;
}

function duplicate(first: Component, firstPlace: number, second: Component, secondPlace: number): DataflexError {
  return new DataflexError(
    "COMPONENT",
    `two ${kindPlural(first.kind)} are called '${first.name}': ${describe(first, firstPlace)} and ${describe(second, secondPlace)}; ` +
      `rename one, names are unique per kind`,
    { kind: first.kind, name: first.name, places: [firstPlace, secondPlace] },
  );
}

function unknown(kind: ComponentKind, name: string, all: readonly Component[]): DataflexError {
  const registered = all.filter((component) => component.kind === kind).map((component) => component.name);
  const near = nearest(name, registered);
  const elsewhere = all.find((component) => component.name === name);
  const hint =
    near.length > 0
      ? `did you mean ${near.map((candidate) => `'${candidate}'`).join(" or ")}?`
      : elsewhere !== undefined
        ? `'${name}' is a ${elsewhere.kind}.`
        : "";
  const list = registered.length > 0 ? registered.join(", ") : "none";
  return new DataflexError(
    "COMPONENT_UNKNOWN",
    [
      `no ${kind} is called '${name}';`,
      hint,
      `registered ${kindPlural(kind)}: ${list};`,
      "--plugin FILE loads one of your own",
    ]
      .filter(Boolean)
      .join(" "),
    { kind, name, near, registered },
  );
}
