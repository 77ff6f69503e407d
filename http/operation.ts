import type { TSchema } from "@sinclair/typebox";
import type { Permission } from "../domain/identity/permission.ts";

/** Metadata of a route beyond Elysia's: for the gate, the audit log and the OpenAPI document. */
export interface Operation {
  /** The name in the audit log and in OpenAPI, such as `project.create`. */
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  readonly description?: string;
  readonly status?: 200 | 201 | 202;
  /** The schema of the response, or its media type when it is not JSON. */
  readonly answer: TSchema | { readonly media: string };
  /** The media type of the response, instead of JSON, where the client prefers it. */
  readonly alternative?: string;
  /** When the response is 204, without a body, instead. */
  readonly nothing?: string;
  /** When the response is 302 instead. */
  readonly redirects?: string;
  /** Error statuses beyond those that every route of its kind can respond with. */
  readonly problems?: readonly number[];
  /** Dotted paths of secrets that a response shows once and a replay blanks. */
  readonly shownOnce?: readonly string[];
  /** The permission that the handler requires on the object in the path, beyond the permission of the route. */
  readonly handlerPermission?: Permission;
  /** Link tokens may call it although it is for the caller itself. */
  readonly forLinkTokens?: boolean;
  /** The body is a stream of this media type, which the handler reads itself. */
  readonly streams?: string;
  /** Refuses a body for a reason that takes precedence over schema validation. Gets the unvalidated body. */
  readonly precheck?: (body: Readonly<Record<string, unknown>>) => void;
  /**
   * Returns the names of what a body sets or deletes, for the audit log, where these are not its fields. Gets the
   * unvalidated body and query.
   */
  readonly changes?: (body: Readonly<Record<string, unknown>>, query: URLSearchParams) => readonly string[];
  /** Called all the time by machines: a success is not worth a line in the log. */
  readonly routine?: boolean;
  /** Changes nothing worth an audit log entry, or records it itself. */
  readonly unaudited?: boolean;
  /**
   * The body field that identifies the caller of an open route, so that its response can be replayed by idempotency
   * key.
   */
  readonly callerField?: string;
  /** Never replayed by idempotency key. */
  readonly unrepeatable?: boolean;
}

/** Attaches an operation to a route. */
export function operation(described: Operation) {
  return { detail: { summary: described.summary, operationId: described.name, "x-operation": described } as Detail };
}

type Detail = { summary: string; operationId: string } & Record<`x-${string}`, unknown>;
