/** Ids stand as keys in some answers. */
const ID = /^\d{10,}-\d+$/;

/**
 * The shape of a JSON value: keys with the shapes of their values, lists by the shapes of their members (of records, one a kind). Two
 * answers of one address have the same shape, whatever their numbers.
 */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    const members = value.map((member) => JSON.stringify(shapeOf(member)));
    return [...new Set(members)].sort().map((text) => JSON.parse(text) as unknown);
  }
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  const record = value as Record<string, unknown>;
  const keys = Object.keys(record).sort();
  // The kind itself tells records apart.
  const shape = (key: string): unknown => (key === "kind" ? record[key] : shapeOf(record[key]));
  return Object.fromEntries(keys.map((key) => [ID.test(key) ? "<id>" : key, shape(key)]));
}
