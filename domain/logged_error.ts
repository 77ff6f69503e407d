import { causeOf, Failure } from "./failure.ts";

/** What the log says of an error. */
export interface LoggedError {
  readonly error: string;
  /** The stable word of a failure. */
  readonly code?: string;
  /** What led to it, nearest first. */
  readonly cause?: string;
  /** Where it comes from; a failure is to be expected and says enough. */
  readonly stack?: string;
}

/** Tells all that the log needs of whatever was thrown, as fields of a line. */
export function loggedError(error: unknown): LoggedError {
  const cause = causeOf(error);
  const led = cause === undefined ? {} : { cause };
  if (error instanceof Failure) return { error: error.message, code: error.code, ...led };
  if (!(error instanceof Error)) return { error: text(error) };
  const { name, message, stack } = error;
  return { error: message === "" ? name : message, ...led, ...(stack !== undefined && { stack }) };
}

/** A rejection may hold anything. */
function text(thrown: unknown): string {
  if (typeof thrown !== "object" || thrown === null) return String(thrown);
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return Object.prototype.toString.call(thrown);
  }
}
