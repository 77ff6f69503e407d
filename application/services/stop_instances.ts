import { isEngineAway } from "../../domain/failure.ts";
import type { Instance, Runtime } from "../../ports/services/runtime.ts";

const GRACE_MS = 10_000;

/**
 * Stops and forgets instances, side by side, each with its own time to end. What an engine that went away runs is left
 * to the sweep.
 */
export async function stopInstances(
  { runtime }: { readonly runtime: Runtime },
  instances: readonly Pick<Instance, "instanceId">[],
): Promise<void> {
  const outcomes = await Promise.allSettled(
    instances.map(({ instanceId }) => runtime.remove(instanceId, { graceMs: GRACE_MS })),
  );
  for (const outcome of outcomes) {
    if (outcome.status === "rejected" && !isEngineAway(outcome.reason)) throw outcome.reason;
  }
}
