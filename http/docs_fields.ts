import { escapeHtml } from "./page.ts";

type Json = Record<string, unknown>;

const REFERENCE = "#/components/schemas/";

/** Renders the fields of a schema as a table: name, type, whether it is required, and meaning. Empty without fields. */
export function fieldTable(schema: Json | undefined): string {
  if (schema?.$ref !== undefined) return `<p>${plainType(schema)}</p>`;
  const rows = schema === undefined ? [] : [...fieldsOf(schema, "")];
  return rows.length === 0 ? "" : `<table><tr><th>Field<th>Type<th><th>Meaning${rows.join("")}</table>`;
}

/** Renders the values of an enum schema with their meanings. */
export function valueTable({ enum: values, "x-enumDescriptions": meanings }: Json): string {
  if (!Array.isArray(values)) return "";
  const rows = values.map(
    (value) => `<tr><td><code>${escapeHtml(String(value))}</code><td>${meaningIn(meanings, value)}`,
  );
  return `<table><tr><th>Value<th>Meaning${rows.join("")}</table>`;
}

/** Renders one row of a table of fields or parameters. */
export function fieldRow(name: string, schema: Json, { required, description }: Json): string {
  const [{ default: preset, enum: values, "x-enumDescriptions": meanings } = {} as Json] = variantsOf(schema);
  const parts = [
    ...(description === undefined ? [] : [escapeHtml(String(description))]),
    ...(preset === undefined ? [] : [`Defaults to <code>${escapeHtml(JSON.stringify(preset))}</code>`]),
    ...(Array.isArray(values)
      ? values.map((value) => `<code>${escapeHtml(value)}</code>: ${meaningIn(meanings, value)}`)
      : []),
  ];
  const cells = [`<code>${escapeHtml(name)}</code>`, typeOf(schema), required ? "required" : "", parts.join("<br>")];
  return `<tr>${cells.map((cell) => `<td>${cell}`).join("")}`;
}

/** Returns the element id of a named type. */
export function typeAnchor(name: string): string {
  return `type-${name}`;
}

/** Yields its own fields, each followed by the fields of its anonymous objects. Named types have their own entry. */
function* fieldsOf(schema: Json, prefix: string): Generator<string> {
  const required = (schema.required ?? []) as string[];
  for (const [name, field] of Object.entries((schema.properties ?? {}) as Record<string, Json>)) {
    const path = prefix + name;
    const { description = variantsOf(field)[0]?.description } = field;
    const isRequired = required.includes(name) && variantsOf(field)[0]?.default === undefined;
    yield fieldRow(path, field, { required: isRequired, description });
    for (const { inner, suffix } of insideOf(field)) yield* fieldsOf(inner, `${path}${suffix}.`);
  }
}

/** Returns the anonymous objects that a field contains. */
function insideOf(field: Json): { inner: Json; suffix: string }[] {
  return variantsOf(field).flatMap((variant) => {
    if (variant.properties !== undefined) return [{ inner: variant, suffix: "" }];
    return variant.items === undefined
      ? []
      : insideOf(variant.items as Json).map(({ inner, suffix }) => ({ inner, suffix: `[]${suffix}` }));
  });
}

/** Returns the variants of a value, without null. */
function variantsOf(schema: Json): Json[] {
  const all = Array.isArray(schema.anyOf) ? (schema.anyOf as Json[]) : [schema];
  return all.filter(({ type }) => type !== "null");
}

function typeOf(schema: Json): string {
  const isNullable = Array.isArray(schema.anyOf) && variantsOf(schema).length < schema.anyOf.length;
  return [...variantsOf(schema).map(plainType), ...(isNullable ? ["null"] : [])].join(" or ");
}

function plainType(schema: Json): string {
  const { $ref, const: literal, items, type } = schema;
  if (typeof $ref === "string") {
    const name = escapeHtml($ref.slice(REFERENCE.length));
    return `<a href="#${typeAnchor(name)}">${name}</a>`;
  }
  if (literal !== undefined) return `<code>${escapeHtml(JSON.stringify(literal))}</code>`;
  if (type === "array") return items === undefined ? "array" : `array of ${typeOf(items as Json)}`;
  if (schema.patternProperties !== undefined) return "map";
  return `${escapeHtml(String(type ?? "anything"))}${boundsOf(schema)}`;
}

function boundsOf({ format, maximum, maxLength, minimum }: Json): string {
  if (format !== undefined) return `, ${escapeHtml(String(format))}`;
  if (minimum !== undefined && maximum !== undefined) return `, ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `, at least ${minimum}`;
  return maxLength === undefined ? "" : `, at most ${maxLength} characters`;
}

function meaningIn(meanings: unknown, value: unknown): string {
  return escapeHtml((meanings as Record<string, string> | undefined)?.[String(value)] ?? "");
}
