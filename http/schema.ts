import { t } from "elysia";
import type { TObject, TProperties, TSchema } from "@sinclair/typebox";
import { ACTIONS, RESOURCES, ROLES } from "../domain/permission.ts";

/** An object that refuses fields it does not name. */
export function object<T extends TProperties>(
  properties: T,
  options: { title?: string; description?: string } = {},
): TObject<T> {
  return t.Object(properties, { additionalProperties: false, ...options });
}

/** One of several words. */
export function oneOf<const T extends readonly string[]>(
  words: T,
  options: { description?: string; examples?: string[] } = {},
) {
  return t.Unsafe<T[number]>(t.String({ enum: [...words], ...options }));
}

/** A value or `null`. */
export function nullable<T extends TSchema>(schema: T) {
  return t.Union([schema, t.Null()]);
}

/** A text of bounded length. */
export function text(
  maxLength: number,
  options: { minLength?: number; description?: string; examples?: string[] } = {},
) {
  return t.String({ minLength: 1, ...options, maxLength });
}

/** A number in a query or in JSON. */
export const Time = t.String({ format: "date-time", examples: ["2026-01-31T12:00:00.000Z"] });

/** The id in a path; ids of the wrong form are simply not there. */
export const IdPath = object({ id: t.String({ minLength: 1, maxLength: 100 }) });

/** No field at all; what routes without a body take. */
export const Nothing = object({});

/** The part of a list that is asked for. */
export const PageFields = {
  page: t.Integer({ minimum: 1, maximum: 1_000_000, default: 1, description: "Counts from 1" }),
  perPage: t.Integer({ minimum: 1, maximum: 100, default: 50, description: "How many at most" }),
};

export const PageQuery = object(PageFields);

/** One resource. */
export function one<T extends TSchema>(view: T) {
  return object({ data: view });
}

/** A part of a list. */
export function many<T extends TSchema>(view: T) {
  return object({ data: t.Array(view), total: t.Integer(), page: t.Integer(), perPage: t.Integer() });
}

/** An action that went well. */
export function done<T extends TProperties>(properties: T) {
  return object({ success: t.Literal(true), ...properties });
}

export const Done = done({});

export const GrantSchema = object(
  {
    resource: oneOf(RESOURCES, { examples: ["project"] }),
    id: text(201, { description: "The id of one thing, or * for all of its kind", examples: ["*"] }),
    action: oneOf(ACTIONS, { examples: ["read"] }),
  },
  { title: "Grant" },
);

export const Grants = t.Array(GrantSchema, { maxItems: 200, examples: [[]] });

export const RoleSchema = oneOf(ROLES, { examples: ["developer"] });

/** Turns a listing into the body of a list route. */
export function listed<T, V>(
  { items, total }: { readonly items: readonly T[]; readonly total: number },
  { page, perPage }: { readonly page: number; readonly perPage: number },
  view: (item: T) => V,
) {
  return { data: items.map(view), total, page, perPage };
}
