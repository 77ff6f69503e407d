import { notFound } from "../../../domain/failure.ts";
import { EngineRefusal } from "./engine_api.ts";
import { engineRefused } from "../containers/start_failure.ts";

const NO_CONTAINER = /no such container/i;

/** Whether an error is the engine's refusal with this status. */
export function isRefusal(error: unknown, status: number): boolean {
  return error instanceof EngineRefusal && error.status === status;
}

/** Ignores a refusal of the engine; rethrows any other error. */
export function ignoreRefusal(error: unknown): void {
  if (!(error instanceof EngineRefusal)) throw error;
}

/** Returns an error handler that converts the engine's refusal into a failure for the caller. */
export function refused(what: string): (error: unknown) => never {
  return (error) => {
    // The engine returns 404 for networks and volumes too.
    if (isRefusal(error, 404) && NO_CONTAINER.test((error as EngineRefusal).message)) throw notFound("instance");
    throw error instanceof EngineRefusal ? engineRefused(what, error) : error;
  };
}
