import { EngineRefusal } from "./engine_api.ts";
import { engineRefused } from "../containers/start_failure.ts";

/** Runs an action on the engine; converts a refusal into a failure that says what could not be done. */
export async function withRefusalAsFailure<T>(what: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw error instanceof EngineRefusal ? engineRefused(what, error) : error;
  }
}
