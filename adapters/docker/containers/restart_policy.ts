import type { ContainerRecord } from "../engine/containers.ts";
import { type EngineApi, EngineRefusal } from "../engine/engine_api.ts";

const TRIES = 10;
const AGAIN_MS = 50;

/** Sets the engine's restart policy of a container. */
export async function setRestartPolicy(
  engine: EngineApi,
  { Id, HostConfig }: Pick<ContainerRecord, "Id" | "HostConfig">,
  Name: string,
): Promise<void> {
  if (HostConfig.RestartPolicy.Name === Name) return;
  for (let attempt = 1; ; attempt++) {
    try {
      await engine.json("POST", `/containers/${Id}/update`, { json: { RestartPolicy: { Name } } });
      return;
    } catch (error) {
      // For a moment after a program has ended, the engine still considers it running.
      const isEarly = error instanceof EngineRefusal && error.status === 500;
      if (!isEarly || attempt === TRIES) throw error;
      await Bun.sleep(AGAIN_MS);
    }
  }
}
