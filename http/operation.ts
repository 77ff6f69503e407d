import type { TSchema } from "@sinclair/typebox";
import type { Permission } from "../domain/identity/permission.ts";

/** What a route is, beside what Elysia knows: for the gate, the audit log and the OpenAPI document. */
export interface Operation {
  /** Its name in the audit log and in OpenAPI, such as `project.create`. */
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  readonly description?: string;
  readonly status?: 200 | 201 | 202;
  /** The answer's schema, or the media type of one that is not JSON. */
  readonly answer: TSchema | { readonly media: string };
  /** The media type that it answers with instead of JSON where a caller prefers it. */
  readonly alternative?: string;
  /** When it answers 204, without a body, instead. */
  readonly nothing?: string;
  /** Statuses beyond those that every route of its kind can give. */
  readonly problems?: readonly number[];
  /** Dotted paths of what an answer shows once and a replay blanks. */
  readonly shownOnce?: readonly string[];
  /** What the handler demands on the thing that the path names, beyond the permission of the route. */
  readonly handlerPermission?: Permission;
  /** The body is a stream of this media type, which the handler reads itself. */
  readonly streams?: string;
  /** Refuses a body for a reason that counts before its form does; gets it as it was sent. */
  readonly precheck?: (body: Readonly<Record<string, unknown>>) => void;
  /** Names of what a body sets or deletes, for the audit log, where that is not its fields; gets it as it was sent. */
  readonly changes?: (body: Readonly<Record<string, unknown>>) => readonly string[];
  /** Changes nothing that an audit log should hold, or records it itself. */
  readonly unaudited?: boolean;
  /** The field of the body that stands for the caller of an open route, so that it can be replayed by key. */
  readonly callerField?: string;
  /** Never replayed by key. */
  readonly unrepeatable?: boolean;
}

/** Attaches an operation to a route. */
export function operation(described: Operation) {
  return { detail: { summary: described.summary, operationId: described.name, "x-operation": described } as Detail };
}

type Detail = { summary: string; operationId: string } & Record<`x-${string}`, unknown>;
