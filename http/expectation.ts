import { numberPhrase, type NumberSchema } from "./number_phrase.ts";

/** The key under which a schema says in words what it takes; left out of the OpenAPI document, as every symbol is. */
export const PHRASE = Symbol("phrase");

/** The same for the names in a map. */
export const KEY_PHRASE = Symbol("key phrase");

/** What is known of a schema that a value does not fit. */
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
  /** The number that a text of a query stands for. */
  readonly stands?: NumberSchema;
}

/** Says in words what a schema takes, such as "a text of 1 to 100 characters"; `undefined` where there are no words for it. */
export function expectation(schema: ExpectingSchema): string | undefined {
  const told = schema[PHRASE] ?? numberPhrase(schema.stands ?? schema);
  if (told !== undefined) return told;
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

/** Tells whether a schema takes values of this kind of JSON at all. */
export function takesKindOf({ type }: ExpectingSchema, value: unknown): boolean {
  if (Array.isArray(value)) return type === "array";
  if (typeof value === "number") return type === "number" || type === "integer";
  return value === null ? type === "null" : type === typeof value;
}

function textPhrase({ format, minLength, maxLength, pattern }: ExpectingSchema): string {
  if (format === "date-time") return 'a time such as "2026-01-31T12:00:00.000Z"';
  if (pattern !== undefined) return "a text of another form";
  return sized("a text", { least: minLength, most: maxLength, unit: "characters" });
}

function sized(
  noun: string,
  { least = 0, most, unit }: { readonly least?: number | undefined; readonly most?: number | undefined; unit: string },
): string {
  if (most === undefined) return least === 0 ? noun : `${noun} of at least ${least} ${unit}`;
  return least === 0 ? `${noun} of at most ${most} ${unit}` : `${noun} of ${least} to ${most} ${unit}`;
}
