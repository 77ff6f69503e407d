import { type EngineApi, EngineRefusal } from "../engine/engine_api.ts";
import { type FoundImage, namesOf } from "./found_image.ts";

/** Takes a name away, and with the last one the image and the layers that nothing else needs; what is gone or in use is left as it is. */
export async function dropName(engine: EngineApi, name: string): Promise<void> {
  try {
    await engine.request("DELETE", `/images/${name}`, { timeoutMs: engine.longAnswerMs });
  } catch (error) {
    const isGoneOrInUse = error instanceof EngineRefusal && (error.status === 404 || error.status === 409);
    if (!isGoneOrInUse) throw error;
  }
}

/** Removes an image that has lost its name to another one; one that still has a name, or is in use, stays. */
export async function dropNameless(engine: EngineApi, image: string): Promise<void> {
  const found = await engine.known<FoundImage>("GET", `/images/${image}/json`);
  // By its digest the engine would take away a last name too, whoever gave it.
  if (found && namesOf(found).length === 0) await dropName(engine, image);
}
