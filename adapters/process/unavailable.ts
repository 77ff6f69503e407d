import { Failure } from "../../domain/failure.ts";

/** A failure of the process runtime itself; the sentence says why and what to do. */
export function unavailable(code: string, message: string, cause?: unknown): Failure {
  return new Failure("unavailable", code, message, { cause });
}
