/** The category of a failure; `http/problems.ts` maps each kind to one HTTP status. */
export type FailureKind =
  | "invalid"
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  | "conflict"
  | "too_large"
  | "throttled"
  | "remote_failed"
  | "unavailable";

/** One problem with one part of the input; `path` is dotted and never contains the rejected value. */
export interface Detail {
  readonly path: string;
  readonly message: string;
}

/** Optional parts of a failure. */
export interface FailureOptions {
  readonly details?: readonly Detail[];
  readonly cause?: unknown;
  /** Seconds after which a retry makes sense. */
  readonly retryAfter?: number;
}

/** A failure the caller is expected to handle. Anything else thrown is a bug. */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly kind: FailureKind;
  /** Stable error code that clients may branch on. */
  readonly code: string;
  readonly details: readonly Detail[] | undefined;
  readonly retryAfter: number | undefined;

  constructor(kind: FailureKind, code: string, message: string, options: FailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.code = code;
    this.details = options.details;
    this.retryAfter = options.retryAfter;
  }
}

/** Invalid input, or an operation that is not possible now. */
export function invalid(code: string, message: string, options?: FailureOptions): Failure {
  return new Failure("invalid", code, message, options);
}

/** Input with one invalid field, which the message names. */
export function invalidField(path: string, message: string): Failure {
  return new Failure("invalid", "invalid_request", `Cannot accept "${path}": ${message}`, {
    details: [{ path, message }],
  });
}

/** A resource that is missing or belongs to another organization; the message is the same for both. */
export function notFound(what: string): Failure {
  return new Failure("not_found", `${what.replaceAll(" ", "_")}_not_found`, `Cannot find this ${what}`);
}

/** A change that conflicts with stored state. */
export function conflict(code: string, message: string, options?: FailureOptions): Failure {
  return new Failure("conflict", code, message, options);
}

const DEEPEST_CAUSE = 5;

/**
 * Returns the chain of causes of an error, nearest first, as one string for the log; `undefined` if there is none.
 * Never shown to clients.
 */
export function causeOf(error: unknown): string | undefined {
  const causes: string[] = [];
  let cause = error instanceof Error ? error.cause : undefined;
  while (cause instanceof Error && causes.length < DEEPEST_CAUSE) {
    const { name, message, code } = cause as Error & { readonly code?: unknown };
    causes.push(`${typeof code === "string" ? code : name}: ${message}`);
    cause = cause.cause;
  }
  return causes.length > 0 ? causes.join("; ") : undefined;
}

/**
 * The failure of an operation that needs a container engine when none answers; the message says what to install, or
 * what to do instead.
 */
export function engineNeeded(why: string, orElse?: string): Failure {
  const install = "Install Docker and start it (on Debian: apt-get install docker.io), or check DOCKER_HOST";
  const sentence = `Cannot deploy this without Docker: ${why}, and no Docker engine answers. ${install}`;
  return new Failure("unavailable", "engine_away", orElse === undefined ? sentence : `${sentence}; or ${orElse}`);
}

/** Returns whether an error only means that no container engine answers now. */
export function isEngineAway(error: unknown): boolean {
  return error instanceof Failure && error.code === "engine_away";
}
