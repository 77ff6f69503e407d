import { recordedRuntime } from "../../../application/services/recorded_runtime.ts";
import type { World } from "../../../ports/world.ts";

/** A world like the given one in which what instances print is recorded, as a server has it. */
export function recorded<Given extends Pick<World, "deployments" | "log" | "runtime" | "runtimeLogs">>(
  world: Given,
): Omit<Given, "runtime"> & Pick<World, "runtime"> {
  return { ...world, runtime: recordedRuntime(world.runtime, world) };
}
