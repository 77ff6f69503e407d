import { Failure } from "../../domain/failure.ts";

/** Creates an `unavailable` failure of the process runtime. The message says why and what to do. */
export function unavailable(code: string, message: string, cause?: unknown): Failure {
  return new Failure("unavailable", code, message, { cause });
}
