import { Failure } from "../../domain/failure.ts";
import { hostFailed, loginExpired, rateLimited, refusedByHost } from "../../domain/githost/host_failures.ts";
import type { Secret } from "../../domain/secret.ts";
import { UnusableAnswer } from "./host_fetch.ts";
import { rateLimitSeconds } from "./rate_limit.ts";

/** An error of octokit, as far as it is used. */
export interface HttpError extends Error {
  readonly status: number;
  readonly request?: { readonly method?: string; readonly url?: string };
  readonly response?: {
    readonly headers: Readonly<Record<string, string | number | undefined>>;
    readonly data: unknown;
  };
}

/** What was attempted, in words that complete "Cannot …", and the secrets that must not be shown. */
export interface HostAttempt {
  readonly action: string;
  readonly secrets: readonly Secret[];
}

const MAX_WORDS = 300;

/** Returns whether an error is an answer of the git host with this status. */
export function hasStatus(error: unknown, status: number): error is HttpError {
  return isHttpError(error) && error.response !== undefined && error.status === status;
}

/** Returns whether an error is the answer that this access may not do something, and not a rate limit. */
export function isForbidden(error: unknown): error is HttpError {
  return hasStatus(error, 403) && limitOf(error) === undefined;
}

/** Converts an error to a failure. Its causes say what happened, without the request, which contains secrets. */
export function hostFailure(error: unknown, attempt: HostAttempt): Failure {
  if (error instanceof Failure) return error;
  const cause = isHttpError(error) && error.cause instanceof Error ? error.cause : error;
  const options = { cause: plainCause(error, attempt.secrets) };
  if (cause instanceof UnusableAnswer) return hostFailed(cause.message, options);
  if (!isHttpError(error)) return hostFailed("its answer makes no sense", options);
  if (!error.response) return hostFailed("it cannot be reached", options);
  const { status } = error;
  const seconds = limitOf(error);
  if (seconds !== undefined) return rateLimited(seconds, options);
  if (status === 401) return loginExpired(options);
  if (status >= 500) return hostFailed(`it answers with an error of its own (${status})`, options);
  if (status < 400) return hostFailed(`it answers with an unexpected status (${status})`, options);
  return refusedByHost(attempt.action, wordsOf(error, attempt.secrets), options);
}

/** Returns the reason that the git host gives, on one line, without secrets. */
export function wordsOf(error: HttpError, secrets: readonly Secret[]): string {
  const { message, errors } = problemOf(error);
  const reasons = errors.map((each) => (typeof each === "string" ? each : each.message)).filter(Boolean);
  const words = reasons.length > 0 ? `${message}: ${reasons.join(", ")}` : message;
  return masked(words || `status ${error.status}`, secrets);
}

/** Returns whether the git host names this code among its reasons. */
export function hasReason(error: HttpError, code: string): boolean {
  return problemOf(error).errors.some((each) => typeof each === "object" && each.code === code);
}

/** Returns the seconds until the rate limit that an answer announces ends. */
function limitOf(error: HttpError): number | undefined {
  const header = (name: string) => error.response?.headers[name]?.toString();
  return rateLimitSeconds({ status: error.status, header, words: problemOf(error).message });
}

type Reason = string | { readonly message?: string; readonly code?: string };

function problemOf(error: HttpError): { readonly message: string; readonly errors: readonly Reason[] } {
  const data = error.response?.data;
  if (typeof data !== "object" || data === null) return { message: "", errors: [] };
  const { message, errors } = data as { readonly message?: unknown; readonly errors?: unknown };
  const known = Array.isArray(errors) ? errors.filter((each) => each !== null) : [];
  return { message: typeof message === "string" ? message : "", errors: known as readonly Reason[] };
}

function plainCause(error: unknown, secrets: readonly Secret[]): Error {
  if (!isHttpError(error)) return new Error(masked(error instanceof Error ? error.message : String(error), secrets));
  const { method = "", url = "" } = error.request ?? {};
  const path = URL.canParse(url) ? new URL(url).pathname : "";
  const said = error.response ? `${error.status} ${wordsOf(error, secrets)}` : error.message;
  return new Error(masked(`${method} ${path}: ${said}`, secrets));
}

function masked(text: string, secrets: readonly Secret[]): string {
  let plain = text;
  for (const secret of secrets) if (secret.reveal() !== "") plain = plain.replaceAll(secret.reveal(), "[secret]");
  // oxlint-disable-next-line no-control-regex
  return plain.replaceAll(/[\u0000-\u001F\u007F-\u009F]+/g, " ").slice(0, MAX_WORDS);
}

/** Returns whether an error comes from a request of octokit. */
export function isHttpError(error: unknown): error is HttpError {
  return error instanceof Error && error.name === "HttpError" && "status" in error;
}
