import { Elysia, t, ValidationError } from "elysia";
import { type Detail, Failure, type FailureKind } from "../domain/failure.ts";
import { object } from "./schema.ts";

/** The one place where a failure becomes a status. */
const STATUS: Readonly<Record<FailureKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  throttled: 429,
  remote_failed: 502,
  unavailable: 503,
};

/** The error body of every route. */
export const Problem = object(
  {
    success: t.Literal(false),
    error: t.String({ description: "A sentence for a person", examples: ["Cannot find this project"] }),
    code: t.String({ description: "A word for programs", examples: ["project_not_found"] }),
    details: t.Optional(t.Array(object({ path: t.String(), message: t.String() }))),
  },
  { title: "Problem" },
);

/** Turns everything thrown by a route into the one error body. */
export function problems(report: (error: unknown) => void) {
  return new Elysia({ name: "http/problems" }).onError({ as: "global" }, ({ error }) => problemOf(error, report));
}

/** The answer to anything thrown; what is no failure is a bug and is reported. */
export function problemOf(error: unknown, report: (error: unknown) => void): Response {
  if (error instanceof Failure) return failed(error);
  if (error instanceof ValidationError && error.type !== "response") return failed(explain(error));
  report(error);
  return problem(500, {
    error: "Cannot complete the request: something unexpected went wrong. The server's log has the details",
    code: "internal",
  });
}

/** A response with the one error body. */
export function problem(
  status: number,
  body: { readonly error: string; readonly code: string; readonly details?: readonly Detail[] },
  headers: Record<string, string> = {},
): Response {
  return Response.json({ success: false, ...body }, { status, headers });
}

function failed({ kind, message, code, details, retryAfter }: Failure): Response {
  const headers: Record<string, string> = {};
  if (kind === "unauthenticated") headers["www-authenticate"] = "Bearer";
  if (retryAfter !== undefined) headers["retry-after"] = String(retryAfter);
  if (kind === "unavailable" && retryAfter === undefined) headers["retry-after"] = "1";
  return problem(STATUS[kind], { error: message, code, ...(details && { details }) }, headers);
}

/** Says which fields are wrong and how, never what they held. */
function explain(error: ValidationError): Failure {
  const seen = new Map<string, Detail>();
  for (const { path, message, schema } of wrongParts(error)) {
    const name = path.slice(1).replaceAll("/", ".").slice(0, 200);
    if (!seen.has(name)) seen.set(name, { path: name, message: sentence(message, schema) });
    if (seen.size === 20) break;
  }
  const details = [...seen.values()];
  const named = details
    .map(({ path, message }) => (path ? `"${path}" ${message}` : `the ${error.type} ${message}`))
    .join("; ");
  return new Failure(
    "invalid",
    "invalid_request",
    `Cannot accept the request: ${named || `the ${error.type} is not valid`}`,
    { details },
  );
}

interface WrongPart {
  readonly path: string;
  readonly message: string;
  readonly schema: { readonly enum?: unknown };
}

function wrongParts({ validator, value }: ValidationError): Iterable<WrongPart> {
  return "Errors" in validator ? validator.Errors(value) : [];
}

function sentence(message: string, schema: WrongPart["schema"]): string {
  if (message === "Unexpected property") return "is not a known field";
  if (message === "Expected required property") return "is required";
  if (Array.isArray(schema.enum)) return `must be one of ${schema.enum.join(", ")}`;
  return message.replace(/^Expected /, "must be: ");
}
