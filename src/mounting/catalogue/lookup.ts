import { type Kind, kindPlural } from "../../scoring/components/component-types.js";
import { didYouMean, listNames, nearest } from "../../suggest.js";
import type { Catalogue, CatalogueEntry } from "./catalogue-entry.js";

/** Where an entry was found. */
export interface Found {
  readonly fingerprint: string;
  readonly entry: CatalogueEntry;
}

/** Every definition of a name, from the smallest catalogue on (built-ins before plugin sets), so that the order of catalogues does not matter. */
export function findAll(catalogues: readonly Catalogue[], kind: Kind, name: string): Found[] {
  const ordered = [...catalogues].sort(
    (a, b) => a.entries.length - b.entries.length || (a.fingerprint < b.fingerprint ? -1 : 1),
  );
  return ordered.flatMap(({ fingerprint, entries }) =>
    entries.filter((entry) => entry.kind === kind && entry.name === name).map((entry) => ({ fingerprint, entry })),
  );
}

/** Registered names of a kind, sorted, each once. */
export function namesOf(catalogues: readonly Catalogue[], kind: Kind): string[] {
  const names = catalogues.flatMap((c) => c.entries.filter((entry) => entry.kind === kind).map((entry) => entry.name));
  return [...new Set(names)].sort();
}

/** Kinds under which a name is registered. */
export function kindsOf(catalogues: readonly Catalogue[], name: string): Kind[] {
  return [...new Set(catalogues.flatMap((c) => c.entries.filter((e) => e.name === name).map((e) => e.kind)))];
}

/** `did you mean …?   registered scorers: …`; if nothing of that kind is similar, similar names of other kinds. */
export function registeredHint(catalogues: readonly Catalogue[], kind: Kind, name: string): string {
  const names = namesOf(catalogues, kind);
  const near = didYouMean(name, names) ?? otherKind(catalogues, name);
  const listed =
    names.length === 0 ? `no ${kind} is registered` : `registered ${kindPlural(kind)}: ${listNames(names)}`;
  return near === undefined ? listed : `${near}   ${listed}`;
}

function otherKind(catalogues: readonly Catalogue[], name: string): string | undefined {
  const all = catalogues.flatMap((c) => c.entries);
  const near = nearest(
    name,
    all.map((entry) => entry.name),
  )[0];
  const entry = all.find((e) => e.name === near);
  return entry === undefined ? undefined : `did you mean the ${entry.kind} "${entry.name}"?`;
}
