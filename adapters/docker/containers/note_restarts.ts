import type { ContainerRecord } from "../engine/containers.ts";
import { type EngineApi, EngineRefusal } from "../engine/engine_api.ts";
import { LABEL } from "./labels.ts";
import type { OwnContainers } from "./own_containers.ts";

const LIMIT_MS = 10_000;
/** Short, because the program of a crash loop runs only for moments, and only then the engine renames its container. */
const AGAIN_MS = 2;
/** After this many refusals in a row it is looked whether there is still something to rename. */
const LOOK_AFTER = 16;

/** Stores the number of restarts in a container's name; another server may do the same. Gives up after 10 s. */
export async function noteRestarts(
  engine: EngineApi,
  own: OwnContainers,
  { Id, Config }: Pick<ContainerRecord, "Id" | "Config">,
  restarts: number,
): Promise<void> {
  const name = own.name(Config.Labels[LABEL.instance]!, restarts);
  let refusals = 0;
  for (const until = Date.now() + LIMIT_MS; Date.now() < until; await Bun.sleep(AGAIN_MS)) {
    try {
      await engine.request("POST", `/containers/${Id}/rename`, { query: { name } });
      return;
    } catch (error) {
      if (!(error instanceof EngineRefusal)) throw error;
      // A container that waits for its next restart cannot be renamed. Looking each time would miss when it runs.
      if (refusals++ % LOOK_AFTER > 0) continue;
      const record = await own.inspect(Id);
      if (!record || record.Name === `/${name}`) return;
    }
  }
}
