import { notFound } from "../../../domain/failure.ts";
import { EngineRefusal } from "./engine_api.ts";
import { engineRefused } from "../containers/start_failure.ts";

const NO_CONTAINER = /no such container/i;

/** Whether the engine said no, with this status. */
export function isRefusal(error: unknown, status: number): boolean {
  return error instanceof EngineRefusal && error.status === status;
}

/** Throws what is no word of the engine. */
export function unlessRefused(error: unknown): void {
  if (!(error instanceof EngineRefusal)) throw error;
}

/** Turns a refusal of the engine into a failure for whoever asked. */
export function refused(what: string): (error: unknown) => never {
  return (error) => {
    // Of networks and volumes the engine says not found too.
    if (isRefusal(error, 404) && NO_CONTAINER.test((error as EngineRefusal).message)) throw notFound("instance");
    throw error instanceof EngineRefusal ? engineRefused(what, error) : error;
  };
}
