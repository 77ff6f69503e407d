import { Failure } from "../../domain/failure.ts";

/** A problem document of an authority (RFC 7807), as far as it is used. */
export interface AcmeProblem {
  readonly type?: unknown;
  readonly detail?: unknown;
  readonly subproblems?: unknown;
}

const MOST_WORDS = 1_000;
const NAMESPACE = "urn:ietf:params:acme:error:";
const SECONDS_PER_DAY = 86_400;

/** The failure of a request that the authority refused, with its own words. */
export function refused(problem: unknown, retryAfter?: number, cause?: unknown): Failure {
  return new Failure("remote_failed", "authority_refused", `The certificate authority refused: ${wordsOf(problem)}`, {
    ...(retryAfter !== undefined && { retryAfter }),
    cause,
  });
}

/** The failure of a request that a limit refused which is not the host name's own: others would be refused too. */
export function accountLimited(problem: unknown, retryAfter?: number, cause?: unknown): Failure {
  return recoded(refused(problem, retryAfter, cause), "authority_limited");
}

/** Returns a failure as one of the host name only, if it is a limit and its words are about that name or a parent of it. */
export function ofName(error: unknown, hostname: string): unknown {
  if (!(error instanceof Failure) || error.code !== "authority_limited") return error;
  // Let's Encrypt: "… issued for "example.org" in the last …", "… issued for this exact set of identifiers in the last …".
  const names: readonly string[] = error.message.toLowerCase().match(/[a-z\d-]+(\.[a-z\d-]+)+/g) ?? [];
  const isOfName = names.some((name) => hostname === name || hostname.endsWith(`.${name}`));
  return isOfName || error.message.includes("exact set of") ? recoded(error, "authority_refused") : error;
}

function recoded({ kind, message, retryAfter, cause }: Failure, code: string): Failure {
  return new Failure(kind, code, message, { ...(retryAfter !== undefined && { retryAfter }), cause });
}

/** The failure of a request that got no usable answer. */
export function unreachable(why: string, retryAfter?: number, cause?: unknown): Failure {
  const sentence = `Cannot reach the certificate authority: ${why}`;
  return new Failure("remote_failed", "authority_unreachable", sentence, {
    ...(retryAfter !== undefined && { retryAfter }),
    cause,
  });
}

/** Returns the kind of a problem without its namespace, such as `badNonce`. */
export function problemKind(problem: unknown): string | undefined {
  const { type } = (problem ?? {}) as AcmeProblem;
  return typeof type === "string" && type.startsWith(NAMESPACE) ? type.slice(NAMESPACE.length) : undefined;
}

/** Returns the words of a problem document on one line, with those of its parts. */
export function wordsOf(problem: unknown): string {
  const { detail, subproblems } = (problem ?? {}) as AcmeProblem;
  const parts = [detail, ...(Array.isArray(subproblems) ? subproblems.map((part: AcmeProblem) => part?.detail) : [])];
  const words = parts.filter((part) => typeof part === "string" && part !== "").join("; ");
  const plain = (words || (problemKind(problem) ?? "it gave no reason")).replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  return plain.slice(0, MOST_WORDS);
}

/** Returns the seconds of a `Retry-After` header, which is a number or a date; `undefined` without a usable one. */
export function retryAfterOf(headers: Headers, now = Date.now()): number | undefined {
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(Math.ceil(seconds), 0), 30 * SECONDS_PER_DAY);
}
