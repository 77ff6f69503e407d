import type { TSchema } from "@sinclair/typebox";
import { Elysia, t, ValidationError } from "elysia";
import { didYouMean } from "../domain/did_you_mean.ts";
import { type Detail, Failure, type FailureKind } from "../domain/failure.ts";
import { idOf } from "./access.ts";
import { expectation, type ExpectingSchema, KEY_PHRASE, PHRASE, takesKindOf } from "./expectation.ts";
import { object } from "./schema.ts";

/** The only mapping from failures to HTTP statuses. */
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
    success: t.Literal(false, { description: "Always false" }),
    error: t.String({ description: "Human-readable error message", examples: ["Cannot find this project"] }),
    code: t.String({ description: "Machine-readable error code", examples: ["project_not_found"] }),
    message: t.Optional(t.String({ description: "The sentence, where error is the word cloud_unreachable" })),
    details: t.Optional(
      t.Array(
        object({
          path: t.String({ description: "Path of the field, with dots" }),
          message: t.String({ description: "What is wrong with the field" }),
        }),
        { description: "The invalid fields of the request" },
      ),
    ),
  },
  { title: "Problem" },
);

/** The status of a request whose client disconnected before the response. Appears only in logs and metrics. */
export const BROKEN_OFF = 499;

/** Converts every error that a route throws to the common error body. */
export function problems(report: (error: unknown, requestId: string) => void) {
  return new Elysia({ name: "http/problems" }).onError({ as: "global" }, ({ error, request }) => {
    if (error instanceof Failure) codes.set(request, error.code);
    return problemOf(error, request.signal, (bug) => report(bug, idOf(request)));
  });
}

const codes = new WeakMap<Request, string>();

/** Returns the code of the failure that the route of a request threw, if any. */
export function failureCode(request: Request): string | undefined {
  return codes.get(request);
}

/** Converts any error to a response. Reports bugs and outages of dependencies to the operator. */
export function problemOf(error: unknown, signal: AbortSignal, report: (error: unknown) => void): Response {
  // A client that disconnected is not a bug.
  if (signal.aborted && (error === signal.reason || (error instanceof Error && error.name === "AbortError"))) {
    const body = { error: "Cannot complete the request: the client disconnected", code: "request_broken_off" };
    return problem(BROKEN_OFF, body);
  }
  if (error instanceof Failure) {
    if (error.kind === "unavailable") report(error);
    return failed(error);
  }
  if (error instanceof ValidationError && error.type !== "response") {
    const { type, validator, value } = error;
    return failed(wrongInput(type, "Errors" in validator ? validator.Errors(value) : []));
  }
  report(error);
  return problem(500, {
    error: "Cannot complete the request: something unexpected went wrong. The server's log has the details",
    code: "internal",
  });
}

/** Builds a response with the common error body. */
export function problem(
  status: number,
  body: {
    readonly error: string;
    readonly code: string;
    readonly message?: string;
    readonly details?: readonly Detail[];
  },
  headers: Record<string, string> = {},
): Response {
  return Response.json({ success: false, ...body }, { status, headers });
}

function failed({ kind, message, code, details, retryAfter }: Failure): Response {
  const headers: Record<string, string> = {};
  if (kind === "unauthenticated") headers["www-authenticate"] = "Bearer";
  if (retryAfter !== undefined) headers["retry-after"] = String(retryAfter);
  if (kind === "unavailable" && retryAfter === undefined) headers["retry-after"] = "1";
  // The one error whose word stands in "error", because the interface promises it there.
  if (code === "cloud_unreachable") return problem(STATUS[kind], { error: code, code, message }, headers);
  return problem(STATUS[kind], { error: message, code, ...(details && { details }) }, headers);
}

/** Reports which fields of the body, query or path are invalid and why, never their values. */
export function wrongInput(where: string, parts: Iterable<WrongPart>): Failure {
  const seen = new Map<string, Detail>();
  for (const part of Iterator.from(parts).flatMap(innermost)) {
    const name = nameOf(part.path);
    if (!seen.has(name)) seen.set(name, { path: name, message: sentence(part) });
    if (seen.size === 20) break;
  }
  const details = [...seen.values()];
  const named = details
    .map(({ path, message }) => (path ? `"${path}" ${message}` : `the ${where} ${message}`))
    .join("; ");
  return new Failure(
    "invalid",
    "invalid_request",
    `Cannot accept the request: ${named || `the ${where} is not valid`}`,
    { details },
  );
}

/** One validation error of a schema. */
interface WrongPart {
  readonly path: string;
  readonly message: string;
  readonly value: unknown;
  readonly schema: TSchema & ExpectingSchema & { readonly properties?: Readonly<Record<string, unknown>> };
  /** For a union: the validation errors of each variant. */
  readonly errors: readonly Iterable<WrongPart>[];
}

/** Descends into a union to the errors of the variant that was meant, so that the message names the field inside it. */
function* innermost(part: WrongPart): Iterable<WrongPart> {
  const kinds = part.errors.map((errors) => Iterator.from(errors).take(20).toArray());
  const meant = kinds.filter(([first]) => part.value === null || first?.message !== "Expected null");
  const fitting =
    meant.find(([first]) => first && first.path.length > part.path.length) ??
    meant.find(([first]) => first && takesKindOf(first.schema, part.value)) ??
    (meant.length === 1 ? meant[0] : undefined);
  if (fitting) {
    for (const inner of fitting) yield* innermost(inner);
    return;
  }
  const phrases = new Set(meant.flatMap(([first]) => (first && expectation(first.schema)) ?? []));
  yield phrases.size > 0 ? { ...part, schema: { ...part.schema, [PHRASE]: [...phrases].join(", or ") } } : part;
}

/** Converts a JSON pointer to a dotted name. */
function nameOf(pointer: string): string {
  const parts = pointer.slice(1).split("/");
  return parts
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .join(".")
    .slice(0, 200);
}

function sentence({ path, message, schema, value }: WrongPart): string {
  if (message === "Unexpected property") return unknownField(path, schema);
  if (message === "Expected required property") return "is required";
  const words = Array.isArray(schema.enum) ? schema.enum.map(String) : [];
  const expected = expectation(schema);
  if (expected === undefined) return "is not valid";
  return `must be ${expected}${didYouMean(value, words)}`;
}

function unknownField(path: string, { properties, [KEY_PHRASE]: phrase }: WrongPart["schema"]): string {
  if (phrase !== undefined) return `is not a valid name: give ${phrase}`;
  return `is not a known field${didYouMean(nameOf(path.slice(path.lastIndexOf("/"))), Object.keys(properties ?? {}))}`;
}
