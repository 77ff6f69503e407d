type Json = Record<string, unknown>;

/** Collects schemas with a title as named components, and references them. */
export class Schemas {
  readonly components: Record<string, unknown> = {};

  /** Converts a schema for the document. Schemas with a title become references, at any depth. */
  reference(schema: object): unknown {
    const { title, description, ...rest } = schema as { title?: string; description?: string };
    if (title === undefined) return this.#plain(schema);
    this.components[title] ??= this.#plain({ title, ...rest });
    // The description depends on the place of use, and stays there.
    return { $ref: `#/components/schemas/${title}`, ...(description !== undefined && { description }) };
  }

  #plain(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#nested(item));
    if (typeof value !== "object" || value === null) return value;
    if ("enum" in value && "meanings" in value) {
      const { meanings, ...rest } = value;
      return this.#plain({ ...rest, "x-enumDescriptions": meanings });
    }
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, this.#nested(inner)]));
  }

  #nested(value: unknown): unknown {
    const titled = typeof value === "object" && value !== null && "title" in value && "type" in value;
    return titled ? this.reference(value) : this.#plain(value);
  }
}

/** Builds an example of a schema from the examples of its parts. */
export function exampleOf(schema: object): unknown {
  const {
    examples,
    default: preset,
    type,
    properties,
    anyOf,
    items,
    enum: words,
    const: literal,
    format,
  } = schema as Json;
  if (Array.isArray(examples)) return examples[0];
  if (literal !== undefined) return literal;
  if (preset !== undefined) return preset;
  if (Array.isArray(words)) return words[0];
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0] as object);
  if (type === "object") {
    return Object.fromEntries(
      Object.entries((properties ?? {}) as Record<string, object>).map(([key, part]) => [key, exampleOf(part)]),
    );
  }
  if (type === "array") return items ? [exampleOf(items as object)] : [];
  return PLAIN[String(type)] ?? (format === "date-time" ? "2026-01-31T12:00:00.000Z" : "text");
}

const PLAIN: Readonly<Record<string, unknown>> = { boolean: true, integer: 1, number: 1, null: null };
