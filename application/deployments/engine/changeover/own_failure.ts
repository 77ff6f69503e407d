import { Failure, isEngineAway } from "../../../../domain/failure.ts";
import { isOutage } from "../run.ts";

/** Returns whether an error concerns one service alone; an unavailable database or engine concerns all of them. */
export function isOwnFailure(error: unknown): error is Failure {
  return error instanceof Failure && !isOutage(error) && !isEngineAway(error);
}
