/** A JSON Schema as plain data: what a catalogue entry carries for its parameters. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a schema allows, in words: `number > 0`, `integer >= 1`, `mean | sum | max`, `[number, number] or null`. */
export function describe(schema: JsonSchema): string {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(alternatives)) return [...new Set(alternatives.filter(isRecord).map(describe))].join(" or ");
  if (Array.isArray(schema.enum)) return schema.enum.map(plain).join(" | ");
  if ("const" in schema) return plain(schema.const);
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => describe({ ...schema, type })).join(" or ");
  }
  switch (schema.type) {
    case "number":
    case "integer":
      return `${schema.type}${bounds(schema)}`;
    case "boolean":
      return "true | false";
    case "array":
      return describeArray(schema);
    case "object":
      return isRecord(schema.additionalProperties)
        ? `mapping of names to ${describe(schema.additionalProperties)}`
        : "mapping";
    case "string":
      return schema.pattern === undefined ? "text" : `text matching ${String(schema.pattern)}`;
    default:
      return typeof schema.type === "string" ? schema.type : "anything";
  }
}

/** `name (number > 0, default 1)` for every property of an object schema. */
export function describeProperties(schema: JsonSchema): string[] {
  return Object.entries(propertiesOf(schema)).map(([name, property]) => `${name} (${describeProperty(property)})`);
}

/** `number > 0, default 1`, or `number > 0, required`. */
export function describeProperty(property: JsonSchema): string {
  return `${describe(property)}, ${"default" in property ? `default ${show(property.default)}` : "required"}`;
}

export function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  return Object.fromEntries(
    Object.entries(properties).filter((e): e is [string, Record<string, unknown>] => isRecord(e[1])),
  );
}

/** A value on one short line; `limit` characters at most. */
export function show(value: unknown, limit = 60): string {
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (value === undefined) return "nothing";
  let text: string;
  try {
    text = JSON.stringify(value, (_, v: unknown) => (typeof v === "bigint" ? String(v) : v)) ?? String(value);
  } catch {
    text = Object.prototype.toString.call(value);
  }
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : show(value);
}

function bounds(schema: JsonSchema): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  // zod bounds every integer by ±(2^53 − 1), which is of no interest to a reader.
  const low = safe(minimum) ? minimum : undefined;
  const high = safe(maximum) ? maximum : undefined;
  if (low !== undefined && high !== undefined) return ` in [${low}, ${high}]`;
  const parts: string[] = [];
  if (low !== undefined) parts.push(`>= ${low}`);
  if (safe(exclusiveMinimum)) parts.push(`> ${exclusiveMinimum}`);
  if (high !== undefined) parts.push(`<= ${high}`);
  if (safe(exclusiveMaximum)) parts.push(`< ${exclusiveMaximum}`);
  return parts.length === 0 ? "" : ` ${parts.join(" and ")}`;
}

function safe(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) < Number.MAX_SAFE_INTEGER;
}

function describeArray(schema: JsonSchema): string {
  if (Array.isArray(schema.prefixItems)) return `[${schema.prefixItems.filter(isRecord).map(describe).join(", ")}]`;
  const item = isRecord(schema.items) ? describe(schema.items) : "values";
  return `list of ${item}`;
}
