import { t } from "elysia";
import { type IntegerOptions, Kind, type TObject, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import type { Listing, Page } from "../domain/page.ts";
import { remembered } from "../domain/remembered.ts";
import { LEVEL, RESOURCE, ROLE } from "./meanings.ts";

/** An object schema that refuses unknown fields. */
export function object<T extends TProperties>(
  properties: T,
  options: { title?: string; description?: string } = {},
): TObject<T> {
  return t.Object(properties, { additionalProperties: false, ...options });
}

/** The schema of query parameters. Unknown ones are ignored. */
export function parameters<T extends TProperties>(properties: T): TObject<T> {
  return t.Object(properties, { additionalProperties: true });
}

/** An enum of strings. */
export function oneOf<const T extends readonly string[]>(
  words: T,
  options: { title?: string; description?: string; examples?: string[]; stands?: object; meanings?: object } = {},
) {
  // Uses Elysia's own kind, but not `t.UnionEnum`, which would default to the first value when a caller omits it.
  return t.Unsafe<T[number]>({ [Kind]: "UnionEnum", type: "string", enum: [...words], ...options });
}

/** An enum of strings with the meaning of each. With a title it is a type of its own in the documentation. */
export function explained<const T extends string>(
  meanings: Readonly<Record<T, string>>,
  options: { title?: string; description?: string; examples?: string[] } = {},
) {
  return oneOf(Object.keys(meanings) as T[], { ...options, meanings });
}

/** Returns the schema with a description for one place of use. */
export function about<T extends TSchema>(description: string, schema: T): T {
  return { ...schema, description };
}

/** Returns the fields with their descriptions. */
export function described<T extends TProperties>(fields: T, meanings: { readonly [Key in keyof T]?: string }): T {
  const entries = Object.entries(fields).map(([key, schema]) => {
    const meaning = meanings[key];
    return [key, meaning === undefined ? schema : about(meaning, schema)];
  });
  return Object.fromEntries(entries) as T;
}

/** An integer in JSON. Elysia's own kind would accept a string too. */
export function integer(options: IntegerOptions = {}) {
  return Type.Integer(options);
}

/** A value or `null`. */
export function nullable<T extends TSchema>(schema: T) {
  return t.Union([schema, t.Null()]);
}

/** A string of bounded length. */
export function text(
  maxLength: number,
  options: { minLength?: number; description?: string; examples?: string[] } = {},
) {
  return t.String({ minLength: 1, ...options, maxLength });
}

/** A timestamp, in UTC. */
export const Time = t.String({ format: "date-time", examples: ["2026-01-31T12:00:00.000Z"] });

/** The id in a path. A malformed id counts as not found. */
export const IdPath = object({ id: t.String({ description: "ID of the resource" }) });

/** An object without fields, for routes without a body. */
export const EmptyObject = object({});

/** The paging parameters of a list. */
export const PageFields = {
  page: count({ maximum: 1_000_000, preset: 1, description: "Page number, starting at 1" }),
  perPage: count({ maximum: 100, preset: 50, description: "Maximum number of entries per page" }),
};

/** An integer query parameter with a default, from 1 to a power of ten. */
export function count({ maximum, preset, description }: { maximum: number; preset: number; description: string }) {
  const { stands, ...schema } = upTo(maximum, description);
  return t.String({ ...schema, default: String(preset), stands: { ...stands, default: preset } });
}

/** An integer query parameter, from 1 to a power of ten. Queries contain text; `stands` is the number it represents. */
export function upTo(maximum: number, description: string) {
  const pattern = `^(?:[1-9][0-9]{0,${String(maximum).length - 2}}|${maximum})$`;
  return t.String({ pattern, description, stands: { type: "integer", minimum: 1, maximum } });
}

/** A boolean query parameter. Queries contain text; `stands` is the value it represents. */
export function flag(description: string) {
  return oneOf(["true", "false"] as const, { description, stands: { type: "boolean", default: false } });
}

export const PageQuery = parameters(PageFields);

/** The response with one resource. */
export function one<T extends TSchema>(view: T) {
  return object({ data: about("The requested resource", view) });
}

/** The response with a page of a list. */
export function many<T extends TSchema>(view: T) {
  const fields = { data: t.Array(view), total: integer(), page: integer(), perPage: integer() };
  return object(
    described(fields, {
      data: "The entries of this page",
      total: "Total number of entries on all pages",
      page: "Number of this page, starting at 1",
      perPage: "Maximum number of entries per page",
    }),
  );
}

/** The response of a successful action. */
export function done<T extends TProperties>(properties: T) {
  return object({
    success: t.Literal(true, { description: "Always true; failures respond with a Problem" }),
    ...properties,
  });
}

export const Done = done({});

const ResourceSchema = explained(RESOURCE, { title: "Resource", examples: ["project"] });
const LevelSchema = explained(LEVEL, { title: "Level", examples: ["read"] });

export const GrantSchema = object(
  {
    resource: about("Resource type", ResourceSchema),
    id: text(201, { description: "ID of one resource, or * for all of this type", examples: ["*"] }),
    action: about("Access level; each level includes the lower ones", LevelSchema),
  },
  { title: "Grant" },
);

export const Grants = t.Array(GrantSchema, {
  maxItems: 200,
  examples: [[]],
  description: "Permissions on individual resources, in addition to those of the role",
});

export const RoleSchema = explained(ROLE, {
  title: "Role",
  examples: ["developer"],
  description: "Role of the user in the whole organization",
});

/** Converts what use cases return to its JSON text. An unchanged item or page is converted once. */
export interface ViewText<T> {
  readonly ofItem: (item: T) => string;
  readonly ofPage: (items: readonly T[]) => string;
}

/** Returns the conversion to JSON text by way of a view. */
export function viewText<T extends object>(view: (item: T) => object): ViewText<T> {
  const ofItem = remembered((item: T) => JSON.stringify(view(item)));
  return { ofItem, ofPage: remembered((items: readonly T[]) => `[${items.map(ofItem).join(",")}]`) };
}

/** Builds the response of a route that reads one resource. */
export function oneResponse<T>(item: T, { ofItem }: ViewText<T>): Response {
  return jsonResponse(`{"data":${ofItem(item)}}`);
}

/** Builds the response of a list route: the page that the query requests, from `list`. */
export async function listResponse<T>(
  query: { readonly page: string; readonly perPage: string },
  list: (page: Page) => Promise<Listing<T>>,
  { ofPage }: ViewText<T>,
  first = "",
): Promise<Response> {
  const page = { page: Number(query.page), perPage: Number(query.perPage) };
  const { items, total } = await list(page);
  const rest = `"total":${total},"page":${page.page},"perPage":${page.perPage}`;
  return jsonResponse(`{${first}"data":${ofPage(items)},${rest}}`);
}

function jsonResponse(body: string): Response {
  return new Response(body, { headers: { "content-type": "application/json;charset=utf-8" } });
}
