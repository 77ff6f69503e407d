import { Failure, notFound } from "../../../domain/failure.ts";
import { EngineRefusal } from "./engine_api.ts";

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
    throw asFailure(what, error);
  };
}

/** Runs an action on the engine; converts a refusal into a failure that says what could not be done. */
export async function withRefusalAsFailure<T>(what: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw asFailure(what, error);
  }
}

/**
 * Returns the failure for something that the engine refused. The engine's message is for the log only, as it may name
 * folders of the host.
 */
export function engineRefused(what: string, cause: unknown): unknown {
  if (cause instanceof Failure) return cause;
  const message = `Cannot ${what}: Docker could not do it; its log says why`;
  return new Failure("unavailable", "engine_refused", message, { cause });
}

function asFailure(what: string, error: unknown): unknown {
  return error instanceof EngineRefusal ? engineRefused(what, error) : error;
}
