import { type EngineApi, EngineRefusal } from "../engine/engine_api.ts";
import { inspectImage, namesOf } from "../engine/images.ts";

/**
 * Removes a name of an image, and with the last one the image and the layers that nothing else needs. Ignores an image
 * that is gone or in use.
 */
export async function dropName(engine: EngineApi, name: string): Promise<void> {
  try {
    await engine.request("DELETE", `/images/${name}`, { timeoutMs: engine.longAnswerMs });
  } catch (error) {
    if (!(error instanceof EngineRefusal && isGoneOrInUse(error))) throw error;
  }
}

/** The engine answers 500 for an image that another request removes at the same time. */
function isGoneOrInUse({ status, message }: EngineRefusal): boolean {
  return status === 404 || status === 409 || (status === 500 && /unrecognized image ID/i.test(message));
}

/** Removes an image that has lost its name to another one; keeps it if it still has a name or is in use. */
export async function dropNameless(engine: EngineApi, image: string): Promise<void> {
  const found = await inspectImage(engine, image);
  // Deleting by digest would also remove a last name, even one that Slipway did not assign.
  if (found && namesOf(found).length === 0) await dropName(engine, image);
}
