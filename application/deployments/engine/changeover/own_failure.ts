import { Failure, isEngineAway } from "../../../../domain/failure.ts";
import { isOutage } from "../run.ts";

/** Tells whether an error concerns one service alone; a database or an engine that is away concerns all of them. */
export function isOwnFailure(error: unknown): error is Failure {
  return error instanceof Failure && !isOutage(error) && !isEngineAway(error);
}
