import { isAboutDeployment } from "./cloud/forward.ts";
import { declaredRoutes, type DeclaredRoute } from "./access.ts";
import type { Operation } from "./operation.ts";
import { Problem } from "./problems.ts";
import { exampleOf, Schemas } from "./openapi_schemas.ts";

type Json = Record<string, unknown>;

const SESSION_NOTE = "Set by POST /api/auth/login; a changing request with the cookie needs the Origin header";

const MEANING: Readonly<Record<number, string>> = {
  400: "Invalid input, or not possible in the current state",
  401: "Missing, unknown, expired or revoked credentials",
  403: "Permission denied; the body names the missing permission",
  404: "Not found, or not in the caller's organization",
  409: "Conflicts with the current state",
  413: "The request is too large",
  415: "The body is not JSON",
  429: "Too many attempts; Retry-After says when to retry",
  502: "A remote system named in the request failed",
  503: "Part of the service is unavailable; it recovers automatically",
};

/** Builds the OpenAPI 3.1 document of the API. */
export function openapi(
  app: Parameters<typeof declaredRoutes>[0],
  info: { readonly version: string; readonly url: string },
): Json {
  const schemas = new Schemas();
  const problem = {
    description: "An error",
    content: { "application/json": { schema: schemas.reference(Problem), example: exampleOf(Problem) } },
  };
  const paths: Record<string, Json> = {};
  for (const route of declaredRoutes(app)) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    (paths[path] ??= {})[route.method.toLowerCase()] = operationObject(route, schemas);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Slipway",
      version: info.version,
      description:
        "A self-hosted deployment service. Every error has the body `Problem`; every response has the header `X-Request-Id`.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: info.url }],
    security: [{ token: [] }, { session: [] }],
    paths,
    components: {
      schemas: schemas.components,
      responses: { Problem: problem },
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "Access token: slp_ followed by 43 characters" },
        session: { type: "apiKey", in: "cookie", name: "slipway_session", description: SESSION_NOTE },
      },
    },
  };
}

/** Returns every error status that a route can respond with, except for bugs. */
export function problemStatuses(route: DeclaredRoute): number[] {
  const { method, permission, operation, hooks } = route;
  const changes = method !== "GET";
  const statuses = new Set([
    // A link token may come with an unreadable member.
    ...(changes || permission || (hooks as { query?: unknown }).query ? [400] : []),
    // An authenticated caller may name an organization that is not its own.
    ...(permission ? [401, 403, 404] : []),
    ...(permission || changes ? [503] : []),
    ...(changes ? [413, 415] : []),
    ...(changes && permission ? [409] : []),
    // It may be in the cloud.
    ...(isAboutDeployment(route) ? [429, 502] : []),
    ...(operation.problems ?? []),
  ]);
  return [...statuses].sort((a, b) => a - b);
}

function operationObject(route: DeclaredRoute, schemas: Schemas): Json {
  const { method, path, permission, open, operation, hooks } = route;
  const { params, query, body, detail } = hooks as {
    params?: Json;
    query?: Json;
    body?: Json;
    detail?: { tags?: string[] };
  };
  const changes = method !== "GET";
  const parameters = [
    ...parametersOf(params, "path", schemas),
    ...parametersOf(query, "query", schemas),
    ...(permission ? [ORGANIZATION] : []),
    ...(changes && (permission || operation.callerField) && !operation.unrepeatable ? [IDEMPOTENCY] : []),
  ];
  return {
    operationId: operation.name,
    summary: operation.summary,
    ...descriptionOf(route),
    tags: detail?.tags ?? [tagOf(path)],
    ...(permission ? { "x-permission": permission } : { "x-open": open, security: [] }),
    ...(operation.handlerPermission && { "x-handler-permission": operation.handlerPermission }),
    ...(parameters.length > 0 && { parameters }),
    ...(changes && { requestBody: requestBody(operation, body, schemas) }),
    responses: responses(route, schemas),
  };
}

function descriptionOf({ permission, operation }: DeclaredRoute): { readonly description?: string } {
  const { description, handlerPermission } = operation;
  const both = `The route needs the permission \`${permission}\`; the handler also needs \`${handlerPermission}\` on the target.`;
  const parts = [...(description ? [description] : []), ...(handlerPermission ? [both] : [])];
  return parts.length > 0 ? { description: parts.join(" ") } : {};
}

function requestBody({ streams }: Operation, body: Json | undefined, schemas: Schemas): Json {
  if (streams) return { required: true, content: { [streams]: { schema: { type: "string", format: "binary" } } } };
  const schema = body ?? { type: "object" };
  const required = Array.isArray(schema.required) && schema.required.length > 0;
  return {
    required,
    content: { "application/json": { schema: schemas.reference(schema), example: exampleOf(schema) } },
  };
}

function responses(route: DeclaredRoute, schemas: Schemas): Json {
  const { status = 200, answer, alternative, nothing, redirects } = route.operation;
  const headers = { "X-Request-Id": { schema: { type: "string" } } };
  const content = {
    ...("media" in answer
      ? { [answer.media as string]: { schema: { type: "string" } } }
      : { "application/json": { schema: schemas.reference(answer), example: exampleOf(answer) } }),
    ...(alternative !== undefined && { [alternative]: { schema: { type: "string" } } }),
  };
  const all: Json = {
    [status]: { description: "Success", headers, content },
    ...(nothing !== undefined && { 204: { description: nothing, headers } }),
    ...(redirects !== undefined && { 302: { description: redirects, headers } }),
  };
  for (const code of problemStatuses(route)) {
    all[code] = {
      description: MEANING[code],
      content: { "application/json": { schema: { $ref: "#/components/schemas/Problem" } } },
    };
  }
  return all;
}

function parametersOf(schema: Json | undefined, where: "path" | "query", schemas: Schemas): Json[] {
  const required = (schema?.required ?? []) as string[];
  return Object.entries((schema?.properties ?? {}) as Record<string, Json>).map(([name, property]) => {
    const { description, stands, ...text } = property;
    const rest = (stands ?? text) as Json;
    const mandatory = where === "path" || (required.includes(name) && !("default" in rest));
    return {
      name,
      in: where,
      required: mandatory,
      ...(description !== undefined && { description }),
      schema: schemas.reference(rest),
    };
  });
}

function tagOf(path: string): string {
  return path.split("/")[2] ?? "system";
}

const ORGANIZATION = {
  name: "X-Organization-Id",
  in: "header",
  required: false,
  description: "Organization that a session acts in. Defaults to the user's first organization",
  schema: { type: "string" },
};

const IDEMPOTENCY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "Repeating a request with the same key within 24 hours returns the first response again",
  schema: { type: "string", maxLength: 255 },
};
