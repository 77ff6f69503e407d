import { numberPhrase, type NumberSchema } from "./number_phrase.ts";

/** The key of a schema's description of valid values. As a symbol it is left out of the OpenAPI document. */
export const PHRASE = Symbol("phrase");

/** The same for the keys of a map. */
export const KEY_PHRASE = Symbol("key phrase");

/** The parts of a schema that describe a validation error. */
export interface ExpectingSchema extends NumberSchema {
  readonly [PHRASE]?: string;
  readonly [KEY_PHRASE]?: string;
  readonly const?: unknown;
  readonly enum?: unknown;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** The number that the text of a query parameter represents. */
  readonly stands?: NumberSchema;
}

/** Describes the valid values of a schema, such as "a text of 1 to 100 characters"; `undefined` where it cannot. */
export function expectation(schema: ExpectingSchema): string | undefined {
  const phrase = schema[PHRASE] ?? numberPhrase(schema.stands ?? schema);
  if (phrase !== undefined) return phrase;
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.join(", ")}`;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  switch (schema.type) {
    case "string":
      return textPhrase(schema);
    case "array":
      return sized("a list", { least: schema.minItems, most: schema.maxItems, unit: "entries" });
    case "boolean":
      return "true or false";
    case "object":
      return "an object";
    case "null":
      return "null";
    default:
      return undefined;
  }
}

/** Returns whether a schema accepts the JSON type of a value at all. */
export function takesKindOf({ type }: ExpectingSchema, value: unknown): boolean {
  if (Array.isArray(value)) return type === "array";
  if (typeof value === "number") return type === "number" || type === "integer";
  return value === null ? type === "null" : type === typeof value;
}

function textPhrase({ format, minLength, maxLength, pattern }: ExpectingSchema): string {
  if (format === "date-time") return 'a time such as "2026-01-31T12:00:00.000Z"';
  if (pattern !== undefined) return "a text in another form";
  return sized("a text", { least: minLength, most: maxLength, unit: "characters" });
}

function sized(
  noun: string,
  { least = 0, most, unit }: { readonly least?: number | undefined; readonly most?: number | undefined; unit: string },
): string {
  if (most === undefined) return least === 0 ? noun : `${noun} of at least ${least} ${unit}`;
  return least === 0 ? `${noun} of at most ${most} ${unit}` : `${noun} of ${least} to ${most} ${unit}`;
}
