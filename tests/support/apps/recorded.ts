import { recordedRuntime } from "../../../application/services/recorded_runtime.ts";
import type { World } from "../../../ports/world.ts";

/** Returns a copy of a world whose runtime records instance output, as in a server. */
export function recorded<Given extends Pick<World, "deployments" | "log" | "runtime" | "runtimeLogs">>(
  world: Given,
): Omit<Given, "runtime"> & Pick<World, "runtime"> {
  return { ...world, runtime: recordedRuntime(world.runtime, world) };
}
