import { causeOf, Failure } from "./failure.ts";

/** The fields of a log line that describe an error. */
export interface LoggedError {
  readonly error: string;
  /** The error code of a failure. */
  readonly code?: string;
  /** The causes, nearest first. */
  readonly cause?: string;
  /** The stack trace; absent for a `Failure`, which is expected and whose message is enough. */
  readonly stack?: string;
}

/** Returns the log fields for any thrown value. */
export function loggedError(error: unknown): LoggedError {
  const cause = causeOf(error);
  const led = cause === undefined ? {} : { cause };
  if (error instanceof Failure) return { error: error.message, code: error.code, ...led };
  if (!(error instanceof Error)) return { error: text(error) };
  const { name, message, stack } = error;
  return { error: message === "" ? name : message, ...led, ...(stack !== undefined && { stack }) };
}

/** Formats a thrown value that is not an `Error`; a rejection may hold anything. */
function text(thrown: unknown): string {
  if (typeof thrown !== "object" || thrown === null) return String(thrown);
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return Object.prototype.toString.call(thrown);
  }
}
